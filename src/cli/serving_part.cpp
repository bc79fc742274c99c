// SPDX-License-Identifier: Apache-2.0
#include "cli/serving_part.h"

#include <fmt/format.h>

#include "report/numbers.h"
#include "report/serving.h"

namespace kvplan {

std::vector<Requests> asked_requests(const Request& request, std::span<const Load> loads) {
  std::vector<Requests> all;
  if (!request.input || !request.output || request.input->n < 1 || request.output->n < 1)
    return all;
  for (const Load& load : loads) all.push_back({*request.input, *request.output, load.batch});
  return all;
}

void add_serving(Document& document, const Resolved& r, std::span<const Requests> asked) {
  if (asked.empty()) return;
  std::vector<Serving> rows;
  for (const Requests& requests : asked) rows.push_back(serving(r.setup, requests));
  document.body.emplace_back("serving", value(Object{{"rows", value(rows)}}));
  Table table = kvplan::table<Serving>(
      "serving.rows", fmt::format("A server kept full of requests of {} + {} tokens",
                                  shown(value(asked[0].input)), shown(value(asked[0].output))));
  table.notes = {
      "tok/s counts what is generated, for all users together; prompts take their share of "
      "the time."};
  if (rows[0].expected)
    table.notes.push_back(
        "Expected: steps and prompts take turns; a request waits from its arrival "
        "to its last token with as many users at once.");
  else if (!rows[0].why_not.empty())
    table.notes.push_back(fmt::format("No expected figure: {}.", rows[0].why_not));
  document.tables.push_back(std::move(table));
}

}  // namespace kvplan
