// SPDX-License-Identifier: Apache-2.0
// Rows of tests/truth → setups and the amounts that were printed.
#include <algorithm>
#include <cmath>

#include "catalog/catalog.h"
#include "engine/logged_shape.h"
#include "engine/options.h"
#include "engine/vllm_models.h"
#include "reports/accuracy.h"

namespace kvplan::test {
namespace {

struct Question {
  Setup setup;
  StartLog log;
};

double number_at(const Node& row, std::string_view key) { return *row.find(key)->number(); }

template <class T>
Printed<T> printed(T value, T half = {}) {
  return {value, value, half, 0, 1};
}
// A size printed in GiB with two digits, or the sum of `parts` such sizes.
Printed<Bytes> gib(double n, std::int64_t parts = 1) {
  return printed(Bytes(std::llround(n * static_cast<double>(kGiB))), Bytes(kGiB / 200 * parts));
}
void count(std::optional<Printed<std::int64_t>>& field, const Node& row, std::string_view key) {
  if (row.find(key)) field = printed(integer_at(row, key));
}

std::string family_of(const ModelSpec& model) {
  bool recurrent = false, latent = false, window = false, compressed = false, plain = false;
  for (const Layer& layer : model.layers) {
    const Mixer& m = layer.mixer;
    recurrent |= std::holds_alternative<Recurrent>(m.kind) || m.beside.has_value();
    latent |= std::holds_alternative<Latent>(m.kind);
    plain |= std::holds_alternative<Attention>(m.kind);
    for (const Reach& reach : m.reach) {
      window |= std::holds_alternative<Window>(reach) || std::holds_alternative<Chunk>(reach);
      compressed |= std::holds_alternative<Compressed>(reach);
    }
  }
  if (compressed) return "windows and compressed entries";
  if (recurrent) return plain || latent ? "recurrent and attention layers" : "recurrent layers";
  if (latent) return "latents (MLA)";
  return window ? "windows and full attention" : "full attention";
}

// ---- one function an engine

void set_draft(const Node& row, EngineOptions& options) {
  const auto set = [&](const char* flag, const char* key) {
    if (row.find(key)) options.settings[flag] = text_at(row, key);
  };
  const std::string shape = "speculative_config.draft_model_config.hf_config.";
  set("enable_prefix_caching", "caching");
  set("max_num_batched_tokens", "batched");
  set("speculative_config.method", "method");
  set("speculative_config.num_speculative_tokens", "draft");
  if (const Node* widths = row.find("draft_shape"))
    for (const auto& [key, value] : widths->members) options.settings[shape + key] = value.text;
  if (text_at(row, "method") == "extract_hidden_states")
    options.settings[shape + "eagle_aux_hidden_state_layer_ids"] = "[1]";
}

Question vllm_question(const Node& row) {
  Question q;
  q.setup.model = shape_named(text_at(row, "model"));
  q.setup.deployment.parallel.tp = integer_at(row, "tp", 1);
  q.setup.deployment.parallel.pp = integer_at(row, "pp", 1);
  q.setup.deployment.parallel.dcp = integer_at(row, "dcp", 1);
  q.setup.deployment.cache = cache_formats(text_at(row, "kv"));
  q.setup.engine = engine_options("vllm");
  q.setup.engine.version = text_at(row, "version");
  set_draft(row, q.setup.engine);
  q.setup.engine.max_model_len =
      Tokens(integer_at(row, "length", q.setup.model.max_context.value_or(Tokens(32768)).n));
  if (row.find("pool_gib")) q.log.pool = gib(number_at(row, "pool_gib"));
  count(q.log.blocks, row, "blocks");
  count(q.log.tokens, row, "tokens");
  count(q.log.block_tokens, row, "block");
  count(q.log.longest_request, row, "longest");
  if (row.find("concurrency")) q.log.concurrency = printed(number_at(row, "concurrency"), 0.0051);
  return q;
}

Question shaped(const Node& row, const char* engine) {
  Question q;
  q.setup.model = model_at(row);
  q.setup.deployment.parallel.tp = integer_at(row, "tp", 1);
  q.setup.deployment.cache = cache_formats(text_at(row, "kv"));
  q.setup.engine = options_at(row, engine);
  return q;
}

Question llamacpp_question(const Node& row) {
  Question q = shaped(row, "llama.cpp");
  const double mib = number_at(row, "printed_mib");
  // Sums of two or three sizes that were each printed to 0.01 MiB.
  q.log.cache = printed(Bytes(std::llround(mib * static_cast<double>(kMiB))), Bytes(10590));
  return q;
}

Question sglang_question(const Node& row) {
  Question q = shaped(row, "sglang");
  count(q.log.tokens, row, "tokens");
  q.log.cache = gib(number_at(row, "printed_gib"), integer_at(row, "parts", 1));
  return q;
}

Question trtllm_question(const Node& row) {
  Question q = shaped(row, "trtllm");
  q.setup.engine.max_model_len = Tokens(2048);
  if (row.find("free_gib")) q.log.free_after = gib(number_at(row, "free_gib"));
  count(q.log.blocks, row, "blocks");
  count(q.log.tokens, row, "tokens");
  if (row.find("bytes")) q.log.cache = printed(Bytes(integer_at(row, "bytes")));
  if (row.find("gib")) q.log.cache = gib(number_at(row, "gib"));
  return q;
}

Question budget_question(const Node& row, const Catalog& catalog) {
  Question q;
  q.setup.model = catalog.model(text_at(row, "model"));
  q.setup.deployment.parallel.tp = integer_at(row, "tp", 1);
  q.setup.engine = options_at(row, "vllm");
  q.setup.engine.max_model_len = Tokens(integer_at(row, "length"));
  q.setup.engine.utilization = number_at(row, "share");
  q.setup.device.emplace();
  q.setup.device->memory.value = gib(number_at(row, "memory")).least;
  q.setup.engine.device = q.setup.device;
  const auto size = [&](std::optional<Printed<Bytes>>& field, const char* key) {
    if (row.find(key)) field = gib(number_at(row, key));
  };
  size(q.log.weights, "weights");
  size(q.log.activation, "activation");
  size(q.log.non_torch, "non_torch");
  size(q.log.pool, "pool");
  return q;
}

Attempt attempt(const Node& row, const Question& q) {
  Attempt a;
  a.engine = q.setup.engine.name;
  a.architecture = family_of(q.setup.model);
  a.source = text_at(row, "source");
  a.model = text_at(row, "model");
  a.chosen = row.find("chosen") || text_at(row, "inferred") == "true";
  a.cause = text_at(row, "cause");
  return a;
}

}  // namespace

bool Attempt::reproduced() const {
  const auto with = [&](CheckLine::Verdict v) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const CheckLine& l) { return l.verdict == v; });
  };
  return with(CheckLine::agrees) && !with(CheckLine::differs);
}

std::vector<Attempt> cache_attempts() {
  struct File {
    const char* name;
    Question (*question)(const Node&);
  };
  std::vector<Attempt> all;
  for (const File& file :
       {File{"engine_vllm.yaml", vllm_question}, File{"engine_vllm_differs.yaml", vllm_question},
        File{"engine_sglang.yaml", sglang_question}, File{"engine_trtllm.yaml", trtllm_question},
        File{"engine_llamacpp.yaml", llamacpp_question}})
    for (const Node& row : truth_rows(file.name)) {
      const Question q = file.question(row);
      all.push_back(attempt(row, q));
      all.back().lines = cache_lines(q.setup, q.log);
    }
  return all;
}

std::vector<Attempt> budget_attempts() {
  const Catalog catalog;
  std::vector<Attempt> all;
  for (const Node& row : truth_rows("engine_budgets.yaml")) {
    const Question q = budget_question(row, catalog);
    all.push_back(attempt(row, q));
    all.back().lines = budget_lines(q.setup, q.log);
  }
  return all;
}

std::vector<Unreproduced> unreproduced() {
  std::vector<Unreproduced> all;
  for (const Node& row : truth_rows("engine_not_reproduced.yaml"))
    all.push_back({text_at(row, "engine"), text_at(row, "source"), text_at(row, "model"),
                   text_at(row, "logged"), text_at(row, "cause"), text_at(row, "open") == "true"});
  return all;
}

}  // namespace kvplan::test
