// SPDX-License-Identifier: Apache-2.0
// Memory that vLLM leaves for its cache: the activation peak against start-up logs, the weights of
// a rank, the defaults that both rest on.
#include <doctest/doctest.h>

#include "engine/options.h"
#include "engine/vllm.h"
#include "engine/vllm/activation.h"
#include "engine/vllm/weights.h"
#include "engine/vllm_models.h"

using namespace kvplan;
using namespace kvplan::test;
using namespace kvplan::vllm;

namespace {

double gib(double bytes) { return bytes / static_cast<double>(kGiB); }

// hidden, FFN width, heads x width, KV heads x width, vocabulary, tp, normed heads
constexpr ActivationShape kLlama8b{4096, 14336, 4096, 1024, 128256, 1, false};
constexpr double kSorted = 38.5;  // bytes per logit while the sampler sorts the whole vocabulary

DeviceSpec device(const char* name, double memory_gib) {
  DeviceSpec d;
  d.name = name;
  d.memory.value = Bytes(static_cast<std::int64_t>(memory_gib * static_cast<double>(kGiB)));
  return d;
}

Serving serving(const char* version, std::map<std::string, std::string> set,
                std::optional<DeviceSpec> on, std::int64_t pp = 1, const char* model = "llama-8b") {
  EngineOptions options = engine_options("vllm", std::move(set));
  options.version = version;
  options.device = std::move(on);
  Parallelism parallel;
  parallel.pp = pp;
  return serving_of(options, rules_of(parse_version(version)), shape_named(model), parallel);
}

}  // namespace

TEST_CASE("the activation peak is within 6 % of start-up logs that its fit did not use") {
  const auto peak = [](ActivationShape s, std::int64_t tokens, std::int64_t sequences) {
    return gib(activation_peak(s, tokens, sequences, kSorted));
  };
  CHECK(peak(kLlama8b, 20000, 256) == doctest::Approx(2.07).epsilon(0.006));  // vllm#10517
  CHECK(peak(kLlama8b, 29000, 256) == doctest::Approx(2.99).epsilon(0.002));
  CHECK(peak(kLlama8b, 8192, 256) == doctest::Approx(1.26).epsilon(0.017));  // vllm#10511
  ActivationShape two = kLlama8b;
  two.tp = 2;
  CHECK(peak(two, 8192, 256) == doctest::Approx(1.26).epsilon(0.017));
  // Public logs: Qwen2.5-1.5B at T 32,768; Qwen3-8B on four ranks at T 8,192.
  CHECK(peak({1536, 8960, 1536, 256, 151936, 1, false}, 32768, 256) ==
        doctest::Approx(2.02).epsilon(0.05));
  CHECK(peak({4096, 12288, 4096, 1024, 151936, 4, true}, 8192, 256) ==
        doctest::Approx(1.45).epsilon(0.006));
  // vllm#25350: 44,015 B per batched token for Qwen3-30B-A3B, whose experts run in chunks.
  CHECK(layer_bytes_per_token({2048, 0, 4096, 512, 151936, 1, true}) ==
        doctest::Approx(44015).epsilon(0.001));
}

TEST_CASE("the newer sampler needs a fraction of a sorted vocabulary") {
  CHECK(rules_of({0, 11}).sampler_bytes.value == 38.5);
  CHECK(rules_of({0, 20}).sampler_bytes.high <= 14);
}

TEST_CASE("batch sizes follow the device's memory, and an A100 counts as small") {
  CHECK(serving("0.11", {}, device("h100-sxm", 79.2)).batched_tokens == 8192);
  CHECK(serving("0.11", {}, device("h100-sxm", 79.2)).sequences == 1024);
  CHECK(serving("0.11", {}, device("a100-80gb-sxm", 79.1)).batched_tokens == 2048);
  CHECK(serving("0.11", {}, device("rtx-4090", 23.5)).sequences == 256);
  CHECK(serving("0.11", {{"max_num_seqs", "16"}}, device("rtx-4090", 23.5)).sequences == 16);
  CHECK(serving("0.6", {}, device("h100-sxm", 79.2)).batched_tokens == 512);
  CHECK(serving("0.6", {{"max_model_len", "20000"}}, {}).batched_tokens == 20000);
}

TEST_CASE("windows hold every batch in flight since 0.26") {
  CHECK(serving("0.25", {}, {}).in_flight() == 8192);
  CHECK(serving("0.26", {}, {}).in_flight() == 16384);
  CHECK(serving("0.26", {{"async_scheduling", "false"}}, {}).in_flight() == 8192);
  CHECK(serving("0.26", {}, {}, 4).in_flight() == 4 * 8192);
}

TEST_CASE("settings that cannot be followed are refused by name") {
  const auto key_of = [](std::map<std::string, std::string> set) {
    EngineOptions options = engine_options("vllm", std::move(set));
    Deployment deployment;
    deployment.cache = cache_formats("bf16");
    try {
      make_vllm(options, shape_named("llama-8b"), deployment);
    } catch (const Error& e) {
      return e.key;
    }
    return std::string();
  };
  const auto drafting = [&](const char* method) {
    return key_of({{"speculative_config.method", method},
                   {"speculative_config.num_speculative_tokens", "2"}});
  };
  CHECK(key_of({{"speculative_config.model", "some/draft"}}) == "speculative_config.model");
  CHECK(drafting("mpt") == "speculative_config.method");
  CHECK(drafting("mtp") == "speculative_config.method");     // the model has no MTP layers
  CHECK(drafting("eagle3") == "speculative_config.method");  // the draft's shape is not known
  CHECK(drafting("ngram").empty());
  CHECK(key_of({{"speculative_config.method", "ngram"}}) ==
        "speculative_config.num_speculative_tokens");
  CHECK(key_of({{"block_size", "0"}}) == "block_size");
  CHECK(key_of({{"max_num_seqs", "-1"}}) == "max_num_seqs");
  CHECK(key_of({{"gpu_memory_utilization", "1.5"}}) == "gpu_memory_utilization");
  CHECK(key_of({{"enable_chunked_prefill", "false"}, {"max_num_batched_tokens", "2048"}}) ==
        "max_num_batched_tokens");
}

TEST_CASE("a draft of another model adds its own layers and leaves the MTP layers out") {
  const auto blocks = [](std::map<std::string, std::string> set) {
    EngineOptions options = engine_options("vllm", std::move(set));
    Deployment deployment;
    deployment.cache = cache_formats("bf16");
    const ModelSpec model = with_draft(shape_named("llama-8b"), attention_layer(8, 128, 128), 3);
    return make_vllm(options, model, deployment)->reserved(Tokens(16), 1).n / 65536;
  };
  const std::string shape = "speculative_config.draft_model_config.hf_config.";
  CHECK(blocks({}) == 32);
  CHECK(blocks({{"speculative_config.method", "mtp"},
                {"speculative_config.num_speculative_tokens", "1"}}) == 35);
  CHECK(blocks({{"speculative_config.method", "eagle3"},
                {"speculative_config.num_speculative_tokens", "1"},
                {shape + "num_hidden_layers", "1"},
                {shape + "num_key_value_heads", "8"},
                {shape + "head_dim", "128"}}) == 33);
}

TEST_CASE("the throughput mode doubles what a step may hold") {
  CHECK(serving("0.21", {{"performance_mode", "throughput"}}, {}).batched_tokens == 16384);
  CHECK(serving("0.21", {{"performance_mode", "throughput"}}, {}).sequences == 2048);
}

TEST_CASE("a checkpoint in 32 bits is loaded in 16") {
  ModelSpec m = dense(1, 8, 128);
  m.native = &format_named("fp32");
  m.ends.push_back({"all", Role::mlp, 1000, 1, Sharding::split, 1, 1, true, m.native});
  CHECK(as_loaded(m, Settings(EngineOptions{})).native->name == "bf16");
  CHECK(as_loaded(m, Settings(EngineOptions{})).ends.front().format->name == "bf16");
}

TEST_CASE("a rank holds its share of split weights and all of replicated ones") {
  ModelSpec m = dense(2, 8, 128);
  m.vocabulary = 1000;  // padded to 1,024
  const Format* bf16 = &format_named("bf16");
  for (Layer& l : m.layers) {
    l.weights.push_back({"mlp.up_proj", Role::mlp, 512, 256, Sharding::split, 1, 1, true, bf16});
    l.weights.push_back(
        {"self_attn.k_proj", Role::attention, 1024, 256, Sharding::kv_heads, 1, 1, true, bf16});
    l.weights.push_back({"norm", Role::norm, 256, 1, Sharding::replicated, 1, 1, false, bf16});
  }
  m.ends.push_back({"embed", Role::embedding, 1000, 256, Sharding::split, 1, 1, false, bf16});
  m.ends.push_back({"head", Role::head, 1000, 256, Sharding::split, 1, 1, true, bf16});
  const auto rank = [&](std::int64_t tp, std::int64_t pp) {
    Parallelism parallel;
    parallel.tp = tp;
    parallel.pp = pp;
    const Rules rules = rules_of(site_of(engine_options("vllm")).version);
    const Serving s = serving_of(engine_options("vllm"), rules, m, parallel);
    return rank_weights({m, parallel, rules, s, Tokens(0)}).low.n;
  };
  const std::int64_t layer = 2 * 512 * 256 + 2 * 1024 * 256, norm = 512, table = 2 * 1024 * 256;
  CHECK(rank(1, 1) == 2 * (layer + norm) + 2 * table);
  CHECK(rank(4, 1) == 2 * (layer / 4 + norm) + 2 * table / 4);
  // 16 ranks: eight KV heads are one per rank and twice replicated.
  CHECK(rank(16, 1) == 2 * (2 * 512 * 256 / 16 + 2 * 1024 * 256 / 8 + norm) + 2 * table / 16);
  CHECK(rank(1, 2) == layer + norm + table);
}

TEST_CASE("MXFP4 experts are padded along their own axes") {
  // gpt-oss-120b, experts alone: 36 layers of 128. vllm#23278 logs 65.97 GiB of weights, of which
  // 4.1 are not experts; 61.85 are 128 x 3 x 2,944 x 3,072 x 36 numbers of 17/32 bytes.
  ModelSpec m = dense(36, 8, 64);
  m.hidden = 2880;
  m.max_context = Tokens(1);
  const Format* mxfp4 = &format_named("mxfp4");
  for (Layer& l : m.layers) {
    l.weights.push_back({"mlp.experts.*.gate_proj", Role::routed_expert, 2880, 2880,
                         Sharding::split, 256, 8, true, mxfp4});
    l.weights.push_back({"mlp.experts.*.down_proj", Role::routed_expert, 2880, 2880,
                         Sharding::split, 128, 4, true, mxfp4});
  }
  const Rules rules = rules_of({0, 11});
  const Parallelism parallel;
  const RankWeights w = rank_weights(
      {m, parallel, rules, serving_of(engine_options("vllm"), rules, m, parallel), Tokens(0)});
  CHECK(gib(w.low.real()) == doctest::Approx(56.73).epsilon(0.001));
  CHECK(gib(w.value.real()) == doctest::Approx(61.85).epsilon(0.001));
}

TEST_CASE("the weights that vLLM logs include one rotary table") {
  // vllm#10517: Llama-3.1-8B, 8,030,261,248 parameters in 16 bits, logs 14.9889 GiB.
  ModelSpec m = dense(32, 8, 128);
  m.ends.push_back(
      {"all", Role::mlp, 8030261248, 1, Sharding::split, 1, 1, true, &format_named("bf16")});
  const Rules rules = rules_of({0, 6});
  const Parallelism parallel;
  const RankWeights w = rank_weights(
      {m, parallel, rules, serving_of(engine_options("vllm"), rules, m, parallel), Tokens(0)});
  CHECK(gib(w.value.real()) == doctest::Approx(14.9889).epsilon(0.00001));
}

TEST_CASE("the budget closes: memory x utilisation less what is used is the pool") {
  EngineOptions options = engine_options("vllm@0.21");
  options.reserve = Bytes(kGiB);
  Deployment deployment;
  deployment.cache = cache_formats("bf16");
  const auto engine = make_vllm(options, shape_named("llama-8b"), deployment);
  const Budget b = engine->budget(device("h100-sxm", 79.18));
  CHECK(b.utilization == 0.92);  // vllm#38284
  CHECK(b.graph.value.n > 0);
  const Bytes allowed(static_cast<std::int64_t>(b.memory.real() * *b.utilization));
  CHECK(b.kv_pool.value + b.reserved.value + b.weights.value + b.activation.value +
            b.non_torch.value + b.graph.value ==
        allowed);
  CHECK(b.kv_pool.low <= b.kv_pool.value);
  CHECK(b.kv_pool.value <= b.kv_pool.high);

  options.version = "0.19";
  const Budget before =
      make_vllm(options, shape_named("llama-8b"), deployment)->budget(device("h100-sxm", 79.18));
  CHECK(before.utilization == 0.9);
  CHECK(before.graph.value.n == 0);

  options.settings["kv_cache_memory_bytes"] = "8GiB";
  CHECK(make_vllm(options, shape_named("llama-8b"), deployment)
            ->budget(device("h100-sxm", 79.18))
            .kv_pool.value.n == 8 * kGiB);
}

TEST_CASE(
    "what all GPUs reserve is what each reserves, times their number where stages are equal") {
  EngineOptions options = engine_options("vllm");
  Deployment deployment;
  deployment.parallel.tp = 2;
  deployment.parallel.pp = 2;
  deployment.cache = cache_formats("bf16");
  const auto engine = make_vllm(options, shape_named("llama-8b"), deployment);
  CHECK(engine->reserved(Tokens(1000), 3).n == 3 * 63 * 16 * 2048 * 16);
  CHECK(engine->reserved_total(Tokens(1000), 3) == engine->reserved(Tokens(1000), 3) * 4);
}
