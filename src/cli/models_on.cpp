// SPDX-License-Identifier: Apache-2.0
#include "cli/models_on.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/local.h"
#include "cli/profiles.h"
#include "model/recipe.h"
#include "plan/expectation.h"
#include "report/ladder.h"
#include "report/numbers.h"
#include "report/speed.h"

namespace kvplan {
namespace {

constexpr std::array<std::string_view, 6> kWidestFirst = {"config", "bf16",   "fp8",
                                                          "q6_k",   "q4_k_m", "q2_k"};
constexpr Tokens kLeastRoom{2048}, kUsual{8192};

// One sequence by llama.cpp, in a rung's format; null where no published run tells.
Value expected_by_llamacpp(Setup setup, const Rung& rung, Tokens context) {
  if (!setup.runs || setup.device->kind == "cpu") return {};
  setup.model = apply_recipe(setup.model, rung.recipe);
  DecodeRow row{context, 1, true, DecodeModel(setup.model, {}, *setup.device).at(context, 1),
                {},      {}};
  row.expected = expected_step(setup, {context, 1}, row.step.seconds);
  return value(expected_of(row));
}

std::string count(Tokens tokens) { return shown(value(tokens)); }

}  // namespace

ModelsOn::ModelsOn(const Request& request, const Catalog& catalog) : weights_(request.weights) {
  setup_.device = device_named(catalog, catalog.counted(request.on.value()).name);
  setup_.runs = runs_of_llamacpp(catalog);
  setup_.deployment.cache = cache_formats(request.kv.value_or("bf16"));
  if (!request.context) return;
  if (request.context->size() > 1)
    throw Error("models are listed for one length").of("--context").advise("Give one number.");
  asked_ = request.context->front();
}

ModelsOn::Lengths ModelsOn::lengths_of(const ModelSpec& model) const {
  const Tokens longest = model.max_context.value_or(Tokens(32768));
  const Tokens room = asked_ ? asked_->or_max(longest) : kLeastRoom;
  return {longest, std::min(room, longest), std::min(asked_ ? room : kUsual, longest)};
}

std::optional<Rung> ModelsOn::widest(const Setup& setup, const Lengths& lengths) const {
  const std::string_view typed = weights_ ? std::string_view(*weights_) : "";
  for (const std::string_view& recipe : weights_ ? std::span(&typed, 1) : std::span(kWidestFirst)) {
    const Rung rung =
        ladder(setup, std::span(&recipe, 1), lengths.longest, lengths.usual, lengths.usual)[0];
    if (rung.fits && rung.max_context >= lengths.room) return rung;
  }
  return std::nullopt;
}

std::optional<Object> ModelsOn::columns(const ModelSpec& model) const {
  if (!generates(model)) return std::nullopt;
  Setup setup = setup_;
  setup.model = model;
  const Lengths lengths = lengths_of(model);
  if (asked_ && asked_->tokens && *asked_->tokens > lengths.longest) return std::nullopt;
  const auto rung = widest(setup, lengths);
  if (!rung) return std::nullopt;
  return Object{{"recipe", value(rung->recipe)},
                {"longest", value(rung->max_context)},
                {"users", value(rung->max_batch)},
                {"tokens_per_second", value(rung->tokens_per_second, Show::tokens_per_second)},
                {"expected", expected_by_llamacpp(std::move(setup), *rung, lengths.usual)}};
}

std::string ModelsOn::lead(std::size_t run, std::size_t named) const {
  const std::string room = !asked_          ? count(kLeastRoom) + " tokens"
                           : asked_->tokens ? count(*asked_->tokens) + " tokens"
                                            : "its own longest context";
  if (run == 0)
    return fmt::format("None of {} models runs on {}{} with room for {}.", named, device().title,
                       weights_ ? " in " + *weights_ : "", room);
  return fmt::format("{} of {} models run on {}, each in {} room for {}.", run, named,
                     device().title,
                     weights_ ? *weights_ + " with" : "the widest format that leaves", room);
}

Table ModelsOn::table() const {
  const std::string at = !asked_ ? "8k" : asked_->tokens ? count(*asked_->tokens) : "the longest";
  Table table{"models", "", {}, {}, {}};
  table.columns = {{"model", "name"},
                   {"parameters", "parameters"},
                   {"weights", "recipe"},
                   {"longest context", "longest"},
                   {"users at " + at, "users"},
                   {"ceiling tok/s", "tokens_per_second"},
                   {"expected tok/s", "expected.tokens_per_second", false, {}, true},
                   {"?", "unverified", false, {}, true},
                   {"", "source"}};
  table.notes = {fmt::format(
      "Tok/s of one user at {}: at most, and as published runs of llama.cpp let expect it.",
      !asked_          ? count(kUsual) + " tokens"
      : asked_->tokens ? count(*asked_->tokens) + " tokens"
                       : "the longest context")};
  return table;
}

}  // namespace kvplan
