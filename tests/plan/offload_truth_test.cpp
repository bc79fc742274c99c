// SPDX-License-Identifier: Apache-2.0
// Rates of mixed parts that people measured, against the ceiling and the law of parts in turn. The
// law takes a prompt's experts as chosen uniformly; real prompts use fewer (72 to 95 of 128 for 512
// tokens, ggml-org/llama.cpp#15346), so only a decode step is bounded by it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "catalog/catalog.h"
#include "engine/logged_shape.h"
#include "engine/options.h"
#include "golden.h"
#include "model/recipe.h"
#include "plan/split.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

double real_at(const Node& node, const char* key) {
  const Node* found = node.find(key);
  return found ? found->number().value_or(0) : 0;
}

std::vector<double> reals_at(const Node& node, const char* key) {
  std::vector<double> all;
  if (const Node* list = node.find(key))
    for (const Node& item : list->items) all.push_back(item.number().value_or(0));
  return all;
}

Fact<BytesPerSecond> rate(double gigabytes) { return {BytesPerSecond(gigabytes * 1e9), "", false}; }

// Memory and link rates; peaks of arithmetic, which do not bind a decode step, for prompts.
Machine machine_of(const Node& row) {
  Machine machine;
  const auto gpus = reals_at(row, "gpus"), links = reals_at(row, "links");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    DeviceSpec gpu;
    gpu.bandwidth = rate(gpus[i]);
    gpu.host = Link{"PCIe", rate(links[i])};
    for (const auto& [key, precision] :
         {std::pair{"fp16", Precision::fp16}, {"fp32", Precision::fp32}})
      if (const double peak = real_at(row, key); peak > 0)
        gpu.peaks.push_back({precision, false, {FlopsPerSecond(peak * 1e12), "", false}});
    machine.gpus.push_back(gpu);
  }
  machine.host.emplace();
  machine.host->bandwidth = rate(real_at(row, "host"));
  return machine;
}

Setup setup_of(const Node& row, const Catalog& catalog) {
  Setup setup;
  setup.model = apply_recipe(catalog.model(text_at(row, "model")), text_at(row, "weights"));
  const std::string kv = text_at(row, "kv");
  setup.deployment.cache = cache_formats(kv.empty() ? "fp16" : kv);
  setup.engine = test::engine_options("llama.cpp");
  setup.engine.version = text_at(row, "version");
  if (const Node* set = row.find("set"))
    for (const auto& [key, value] : set->members) setup.engine.settings[key] = value.text;
  return setup;
}

struct Compared {
  double measured, law, ceiling;  // tokens per second
};

Compared compared(const Node& row, const Catalog& catalog) {
  const Setup setup = setup_of(row, catalog);
  const Machine machine = machine_of(row);
  const bool decode = row.find("decode") != nullptr;
  const Load load{Tokens(integer_at(row, decode ? "context" : "prompt")), 1};
  const SplitChoice choice = best_split(setup, machine, load);
  const auto rows = decode ? machine_decode(setup, machine, choice, std::span(&load, 1))
                           : machine_prefill(setup, machine, choice, std::span(&load, 1));
  const double tokens = decode ? 1 : load.context.real();
  return {real_at(row, decode ? "decode" : "prefill"), tokens / rows[0].time.in_turn->v,
          tokens / rows[0].time.ceiling->v};
}

}  // namespace

TEST_CASE("no rate measured on mixed parts beats the ceiling, nor the law of parts in turn") {
  const Catalog catalog;
  std::string table = fmt::format("{:<62}{:>9}{:>9}{:>9}{:>8}\n", "source and flags", "measured",
                                  "in turn", "ceiling", "of law");
  for (const Node& row : truth_rows("offload.yaml")) {
    const Compared c = compared(row, catalog);
    std::string flags;
    if (const Node* set = row.find("set"))
      for (const auto& [key, value] : set->members)
        if (key != "n_gpu_layers" || value.text != "99") flags += " " + key + "=" + value.text;
    const std::string name = text_at(row, "source") + " " + text_at(row, "model") + flags;
    CAPTURE(name);
    CHECK(c.measured < c.ceiling);
    if (row.find("decode")) CHECK(c.measured < c.law);
    CHECK(c.law < c.ceiling * (1 + 1e-9));
    table += fmt::format("{:<62.61}{:>9.1f}{:>9.1f}{:>9.1f}{:>8.2f}\n", name, c.measured, c.law,
                         c.ceiling, c.measured / c.law);
  }
  CHECK(golden_difference("offload.txt", table) == "");
}
