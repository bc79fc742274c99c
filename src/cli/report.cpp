// SPDX-License-Identifier: Apache-2.0
// kv-plan report MODEL DEVICE: the plan with the cache, decode and prefill tables in one document.
#include "cli/answer.h"

namespace kvplan {
namespace {

// Takes a command's own part and tables over into the whole answer.
void take(Document& whole, Answer part, const char* key) {
  std::erase_if(whole.body, [&](const auto& member) { return member.key == key; });
  std::erase_if(whole.tables, [&](const Table& t) { return t.part.starts_with(key); });
  for (auto& member : part.document.body)
    if (member.key == key) whole.body.push_back(std::move(member));
  for (Table& table : part.document.tables) whole.tables.push_back(std::move(table));
}

}  // namespace

Answer answer_report(const Request& request, const Catalog& catalog) {
  Answer whole = answer_plan(request, catalog);
  whole.document.command = "report";
  take(whole.document, answer_kv(request, catalog), "kv");
  take(whole.document, answer_decode(request, catalog), "decode");
  take(whole.document, answer_prefill(request, catalog), "prefill");
  return whole;
}

}  // namespace kvplan
