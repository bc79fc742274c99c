// SPDX-License-Identifier: Apache-2.0
#include "cost/trace.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "cost/decode.h"
#include "cost/devices.h"
#include "cost/prefill.h"
#include "model/shapes.h"

using namespace kvplan;

namespace {

const Trace::Term& term(const Trace& trace, std::string_view starts) {
  const auto found =
      std::find_if(trace.terms.begin(), trace.terms.end(),
                   [&](const Trace::Term& t) { return t.formula.starts_with(starts); });
  REQUIRE(found != trace.terms.end());
  return *found;
}

double operand(const Trace::Term& term, std::string_view name) {
  const auto found = std::find_if(term.operands.begin(), term.operands.end(),
                                  [&](const Trace::Operand& o) { return o.name == name; });
  REQUIRE(found != term.operands.end());
  return found->value;
}

Deployment tensor_parallel(std::int64_t tp) {
  Deployment d;
  d.parallel.tp = tp;
  return d;
}

}  // namespace

TEST_CASE("an explained step says what its numbers are made of, and the operands give them") {
  Trace trace;
  const DecodeModel model(shapes::llama3_8b(), tensor_parallel(8), devices::h100());
  const Step step = model.at(Tokens(100), 4, &trace);
  const Trace::Term& memory = term(trace, "memory time");
  CHECK(memory.result ==
        doctest::Approx(std::max(0.0, operand(memory, "weights") + operand(memory, "cache") -
                                          operand(memory, "last-level cache")) /
                        operand(memory, "bandwidth")));
  const Trace::Term& weights = term(trace, "weights read");
  CHECK(weights.result == operand(weights, "dense") + operand(weights, "experts") +
                              operand(weights, "row") * operand(weights, "sequences"));
  const Trace::Term& link = term(trace, "link time");
  CHECK(link.result == doctest::Approx(operand(link, "per token") * operand(link, "sequences") /
                                       operand(link, "rate")));
  CHECK(trace.terms.back().result == step.seconds.value().v);
}

TEST_CASE("explaining changes no number") {
  Trace trace;
  const DecodeModel model(shapes::llama3_8b(), {}, devices::h100());
  CHECK(model.at(Tokens(4096), 8, &trace).seconds == model.at(Tokens(4096), 8).seconds);
  const auto whole = prefill(shapes::llama3_8b(), {}, devices::h100(), Tokens(4096), 1, &trace);
  CHECK(whole.seconds ==
        prefill(shapes::llama3_8b(), {}, devices::h100(), Tokens(4096), 1).seconds);
  CHECK(trace.terms.back().result == whole.seconds.value().v);
}
