// SPDX-License-Identifier: Apache-2.0
#include "cli/loads.h"

#include <algorithm>

#include "cli/values.h"

namespace kvplan {
namespace {

std::vector<AskedLength> asked_lengths(const std::optional<std::vector<AskedLength>>& typed,
                                       Resolved& r, const char* flag, std::string_view otherwise) {
  if (typed) return *typed;
  note(r, flag, std::string(otherwise), Basis::assumed, "the default of this command");
  return lengths_of(otherwise);
}

// Lengths in rising order of first mention; defaults beyond the model's own length are left out.
std::vector<Tokens> within(const std::vector<AskedLength>& asked, bool typed, Resolved& r) {
  std::vector<Tokens> lengths;
  for (const AskedLength& length : asked) {
    const Tokens n = length.or_max(r.longest());
    if (!typed && n > r.longest()) continue;
    if (typed && r.setup.model.max_context && n > *r.setup.model.max_context)
      r.warnings.push_back(
          {"beyond-model-context", std::to_string(n.n) + " tokens are more than the " +
                                       std::to_string(r.setup.model.max_context->n) +
                                       " that the model was made for"});
    if (std::find(lengths.begin(), lengths.end(), n) == lengths.end()) lengths.push_back(n);
  }
  if (lengths.empty()) lengths.push_back(r.longest());
  return lengths;
}

std::vector<Load> product(const std::vector<Tokens>& contexts,
                          const std::vector<std::int64_t>& batches) {
  std::vector<Load> all;
  for (const Tokens context : contexts)
    for (const std::int64_t batch : batches) all.push_back({context, batch});
  return all;
}

}  // namespace

std::vector<Load> loads(const Request& request, Resolved& r, std::string_view default_contexts,
                        std::string_view default_batches) {
  std::vector<std::int64_t> batches = request.batch   ? *request.batch
                                      : request.users ? std::vector{*request.users}
                                                      : counts_of(default_batches);
  if (!request.batch && !request.users)
    note(r, "--batch", std::string(default_batches), Basis::assumed, "the default of this command");
  if (!request.context && (request.input || request.output)) {
    // Over its life a request holds its input and, on average, half of its output.
    const Tokens held =
        request.input.value_or(Tokens(0)) + Tokens(request.output.value_or(Tokens(0)).n / 2);
    return product({std::max(held, Tokens(1))}, batches);
  }
  return product(within(asked_lengths(request.context, r, "--context", default_contexts),
                        request.context.has_value(), r),
                 batches);
}

bool asks_load(const Request& r) { return r.context || r.users || r.batch || r.input || r.output; }

std::vector<Load> prompts(const Request& request, Resolved& r) {
  const auto lengths = within(asked_lengths(request.prompt, r, "--prompt", "1k,8k,32k"),
                              request.prompt.has_value(), r);
  return product(lengths, request.batch.value_or(std::vector<std::int64_t>{1}));
}

}  // namespace kvplan
