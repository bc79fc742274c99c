// SPDX-License-Identifier: Apache-2.0
// The stable layout. The only file of report that knows nlohmann/json.
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/render.h"
#include "report/version.h"

namespace kvplan {
namespace {

using Json = nlohmann::ordered_json;

Json json(const Value&);

Json json(const Object& object) {
  Json out = Json::object();
  for (const auto& [key, value] : object) out[key] = json(value);
  return out;
}

Json json(const Value& value) {
  struct {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool b) const { return b; }
    Json operator()(std::int64_t n) const { return n; }
    Json operator()(double x) const { return std::isfinite(x) ? Json(x) : Json(); }
    Json operator()(const std::string& s) const { return s; }
    Json operator()(const Array& items) const {
      Json out = Json::array();
      for (const Value& item : items) out.push_back(json(item));
      return out;
    }
    Json operator()(const Object& members) const { return json(members); }
  } visitor;
  return std::visit(visitor, value.v);
}

}  // namespace

std::string render_json(const Document& document) {
  Json out = Json::object();
  out["schema"] = "kv-plan/1";
  out["command"] = document.command;
  out["version"] = version();
  for (const auto& [key, value] : document.body) out[key] = json(value);
  // Names come from files of unknown origin: bytes that are not UTF-8 become U+FFFD.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvplan
