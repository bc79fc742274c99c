// SPDX-License-Identifier: Apache-2.0
#include "catalog/profile_file.h"

#include <algorithm>
#include <initializer_list>

#include "catalog/fields.h"
#include "cost/columns.h"

namespace kvplan {
namespace {

const Node& required(const Node& map, std::string_view key) {
  if (const Node* node = map.find(key)) return *node;
  throw Error("a profile needs this").of(std::string(key)).at_line(map.line);
}

void allow_only(const Node& map, std::initializer_list<std::string_view> keys) {
  kvplan::allow_only(map, keys, "a profile");
}

const std::vector<Node>& list_of(const Node& map, std::string_view key) {
  static const std::vector<Node> kNone;
  const Node* node = map.find(key);
  if (!node || node->kind == Node::null) return kNone;
  if (node->kind != Node::list)
    throw Error("expected a list").of(std::string(key)).at_line(node->line);
  return node->items;
}

double number(const Node& map, std::string_view key, double least, double most) {
  const Node& node = required(map, key);
  const auto value = node.number();
  if (!value || !(*value >= least && *value <= most))
    throw Error(std::string("expected a number from ") + std::to_string(least) + " to " +
                std::to_string(most))
        .of(std::string(key))
        .at_line(node.line);
  return *value;
}

std::int64_t count(const Node& map, std::string_view key) {
  const auto value = required(map, key).integer();
  if (!value || *value < 0) throw Error("expected a count").of(std::string(key)).at_line(map.line);
  return *value;
}

template <class Quantity>
std::optional<Quantity> quantity(const Node& map, std::string_view key) {
  if (!map.find(key)) return std::nullopt;
  return Quantity(number(map, key, 1e-12, 1e18));
}

std::optional<Quality> quality(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  if (!node) return std::nullopt;
  allow_only(*node, {"samples", "median_ape", "p90_ape", "coverage"});
  return Quality{count(*node, "samples"), number(*node, "median_ape", 0, 1e9),
                 number(*node, "p90_ape", 0, 1e9), number(*node, "coverage", 0, 1)};
}

OperatorLaw law_for(OperatorClass op, int line) {
  switch (op) {
    case OperatorClass::weight_stream:
    case OperatorClass::gemm:
      return GemmLaw{};
    case OperatorClass::decode_attention:
      return DecodeAttentionLaw{};
    case OperatorClass::prefill_attention:
      return PrefillAttentionLaw{};
    case OperatorClass::latent_decode:
      return LatentLaw{};
    case OperatorClass::moe:
      return MoeLaw{};
    case OperatorClass::collective:
      return CollectiveLaw{};
    default:
      throw Error("no law describes this class").of("class").at_line(line);
  }
}

// What the law was before it had this constant; empty where it always had it.
template <class Law>
std::optional<double> before_gaining(std::string_view constant) {
  if constexpr (requires { Law::kGained; })
    for (const Gained& gained : Law::kGained)
      if (gained.name == constant) return gained.before;
  return std::nullopt;
}

constexpr const char* kAnotherBuild = "Another version of kv-plan wrote it: calibrate again.";

// Throws Error naming a constant that the law lacks or does not have.
template <class Law>
void read_constants(Law& law, const Node& node) {
  std::vector<std::string_view> known;
  Law::each(law, [&](const char* name, double& value, double low, double high) {
    known.push_back(name);
    const auto before = before_gaining<Law>(name);
    if (node.find(name))
      // A sibling's constants may lie beyond the box of a fit.
      value = before && node.find(name)->number() == before
                  ? *before
                  : number(node, name, low / 100, high * 100);
    else if (before)
      value = *before;
    else
      throw Error("this law has the constant " + std::string(name) + ", which is missing")
          .of("law")
          .at_line(node.line)
          .advise(kAnotherBuild);
  });
  for (const Node::Member& member : node.members)
    if (std::find(known.begin(), known.end(), member.key) == known.end())
      throw Error("this law has no such constant")
          .of(member.key.substr(0, 40))
          .at_line(member.value.line)
          .advise(kAnotherBuild);
}

OperatorLaw law(const Node& node, OperatorClass op) {
  OperatorLaw any = law_for(op, node.line);
  std::visit([&](auto& l) { read_constants(l, node); }, any);
  return any;
}

std::vector<Band> bands(const Node& fit) {
  std::vector<Band> all;
  for (const Node& node : list_of(fit, "bands")) {
    allow_only(node, {"up_to_seconds", "low", "high"});
    const Band band{Seconds(number(node, "up_to_seconds", 0, 1e9)), number(node, "low", 0, 1),
                    number(node, "high", 1, 1e9)};
    if (!all.empty() && band.up_to < all.back().up_to)
      throw Error("bands stand in order of time").of("bands").at_line(node.line);
    all.push_back(band);
  }
  if (all.empty()) throw Error("a fit needs an interval").of("bands").at_line(fit.line);
  return all;
}

Fit fit_from(const Node& node) {
  allow_only(node, {"class", "format", "variant", "samples", "nominal_coverage", "left_out",
                    "holdout", "bands", "law"});
  Fit fit;
  const auto op = operator_class_named(text_in(node, "class"));
  if (!op) throw Error("not a class of operators").of("class").at_line(node.line);
  fit.op = *op;
  fit.format = text_in(node, "format");
  if (!fit.format.empty()) fit.format = std::string(format_named(fit.format).name);
  fit.variant = text_in(node, "variant");
  fit.samples = count(node, "samples");
  fit.nominal = number(node, "nominal_coverage", 0, 1);
  fit.left_out = quality(node, "left_out");
  fit.holdout = quality(node, "holdout");
  fit.bands = bands(node);
  fit.law = law(required(node, "law"), fit.op);
  return fit;
}

Measured measured_from(const Node& node) {
  const CellAt at = [&](std::string_view column) -> const std::string* {
    const Node* cell = node.find(column);
    return cell && cell->kind == Node::scalar ? &cell->text : nullptr;
  };
  try {
    const auto shape = shape_from(at);
    if (!shape) throw Error("a shape of no law");
    Measured row{
        *shape, Seconds(number(node, "seconds", 1e-12, 1e9)), text_in(node, "variant"), {}};
    for (const Node& sample : list_of(node, "samples"))
      row.samples.emplace_back(sample.number().value_or(0));
    return row;
  } catch (Error& error) {
    throw error.at_line(node.line);
  }
}

}  // namespace

Profile read_profile(const Node& file) {
  allow_only(file, {"profile_version", "name", "title", "machine", "origin", "licence", "date",
                    "written_by", "stream_read_bytes_per_second", "stream_copy_bytes_per_second",
                    "launch_seconds", "fits", "measured"});
  if (const auto version = required(file, "profile_version").integer(); version != 1)
    throw Error("this version of kv-plan reads profiles of version 1")
        .of("profile_version")
        .at_line(file.line)
        .advise("Calibrate again.");
  Profile profile;
  profile.device = required(file, "name").string().value_or("");
  profile.title = text_in(file, "title");
  profile.machine = text_in(file, "machine");
  profile.origin = text_in(file, "origin");
  profile.licence = text_in(file, "licence");
  profile.date = text_in(file, "date");
  profile.written_by = text_in(file, "written_by");
  profile.stream_read = quantity<BytesPerSecond>(file, "stream_read_bytes_per_second");
  profile.stream_copy = quantity<BytesPerSecond>(file, "stream_copy_bytes_per_second");
  profile.launch = quantity<Seconds>(file, "launch_seconds");
  for (const Node& node : list_of(file, "fits")) profile.fits.push_back(fit_from(node));
  for (const Node& node : list_of(file, "measured"))
    profile.measured.push_back(measured_from(node));
  return profile;
}

}  // namespace kvplan
