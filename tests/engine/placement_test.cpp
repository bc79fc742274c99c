// SPDX-License-Identifier: Apache-2.0
#include "engine/llamacpp/placement.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "engine/llamacpp/memory.h"
#include "engine/llamacpp/part_lines.h"
#include "engine/llamacpp/tensor_names.h"
#include "engine/options.h"
#include "model/recipe.h"
#include "model/shapes.h"

using namespace kvplan;
using namespace kvplan::llamacpp;

namespace {

double mib(Bytes b) { return b.real() / static_cast<double>(kMiB); }

Machine machine_with(std::size_t gpus) {
  Machine machine;
  machine.gpus.resize(gpus);
  for (DeviceSpec& gpu : machine.gpus) gpu.memory.value = Bytes(1000 * kGiB);
  return machine;
}

EngineOptions options_with(std::map<std::string, std::string> settings, std::string version = {}) {
  EngineOptions options = test::engine_options("llama.cpp");
  options.version = std::move(version);
  options.settings = std::move(settings);
  return options;
}

Split all_on_gpus(const ModelSpec& model, std::vector<double> shares = {}) {
  Split split;
  split.gpu_layers = countable_layers(model);
  split.shares = std::move(shares);
  return split;
}

// Weights alone.
std::vector<Bytes> weights_of(const ModelSpec& model, const Split& split, std::size_t gpus) {
  const EngineOptions options = options_with({});
  Deployment deployment;
  deployment.cache = cache_formats("fp16");
  const PartAccount account(options, model, deployment, machine_with(gpus));
  std::vector<Bytes> sums;
  for (const Device& d :
       parts_of(model, deployment.cache, account.serving(), account.assigned(split)))
    sums.push_back(d.weights);
  return sums;
}

Bytes line_of(const std::vector<PartLine>& lines, std::size_t part, std::string_view what) {
  for (const PartLine& line : lines)
    if (line.part == part && line.what == what) return line.bytes.value;
  return Bytes(0);
}

// OLMoE-1B-7B (arXiv 2409.02060): 16 layers, hidden 2048, 64 experts of 1024 of which 8.
ModelSpec olmoe() {
  ModelSpec model = shapes::with_ends(2048, 50304);
  for (int i = 0; i < 16; ++i) {
    Layer layer;
    layer.mixer = shapes::attention(16, 16, 128, 128);
    layer.weights = shapes::attention_weights(layer.mixer, 2048);
    auto& w = layer.weights;
    w.push_back(shapes::matrix("mlp.gate", Role::router, 64, 2048, Sharding::replicated));
    w.push_back(shapes::experts("mlp.experts.*.gate_proj", 64, 8, 1024, 2048));
    w.push_back(shapes::experts("mlp.experts.*.up_proj", 64, 8, 1024, 2048));
    w.push_back(shapes::experts("mlp.experts.*.down_proj", 64, 8, 2048, 1024));
    model.layers.push_back(std::move(layer));
  }
  return model;
}

}  // namespace

TEST_CASE("two unequal GPUs hold the layers that a start-up log prints") {
  // Llama 3.3 70B in q8_0, 28 and 52 of 80 layers (ollama/ollama#11986): CUDA0 24277.75 MiB, CUDA2
  // 46151.91 MiB, CPU_Mapped 1064.62 MiB.
  const ModelSpec model = apply_recipe(shapes::llama3_70b(), "q8_0");
  const auto weights = weights_of(model, all_on_gpus(model, {28, 53}), 2);
  CHECK(mib(weights[0]) == doctest::Approx(24277.75).epsilon(0.000001));
  CHECK(mib(weights[1]) == doctest::Approx(46151.91).epsilon(0.000001));
  CHECK(mib(weights[2]) == doctest::Approx(1064.62).epsilon(0.00001));
}

TEST_CASE("the first layer on a GPU is the output") {
  // OLMoE-1B-7B at --gpu-layers 1 holds 80.60 MiB on the GPU (gpustack/gguf-parser-go#42).
  const ModelSpec model = apply_recipe(olmoe(), "q4_k_m");
  Split split;
  split.gpu_layers = 1;
  CHECK(mib(weights_of(model, split, 1)[0]) == doctest::Approx(80.60).epsilon(0.0001));
  const Assignment where = assignment_of(model, split, 1);
  CHECK(where.output == 0);
  CHECK(where.caches == std::vector<std::size_t>(16, 1));
}

TEST_CASE("as many GPU layers as the model has leave its first layer on the host") {
  const ModelSpec model = shapes::llama();
  Split split;
  split.gpu_layers = 32;
  const Assignment where = assignment_of(model, split, 1);
  CHECK(where.caches[0] == 1);
  CHECK(where.caches[1] == 0);
  CHECK(where.output == 0);
  split.gpu_layers = 33;
  CHECK(assignment_of(model, split, 1).caches[0] == 0);
}

TEST_CASE("builds before the output went first leave it on the host instead") {
  const ModelSpec model = shapes::llama();
  Split split;
  split.gpu_layers = 32;
  split.output_first = asked_split(options_with({}, "b7000"), model, 1).output_first;
  const Assignment where = assignment_of(model, split, 1);
  CHECK(where.caches[0] == 0);
  CHECK(where.output == 1);
}

TEST_CASE("caches follow their layers, or stay on the host when told so") {
  // Command R 35B, 40 layers, 4,096 tokens: KV 1536 MiB and 3584 MiB on a 4070 Ti and a 3090 Ti
  // (ggml-org/llama.cpp#6122).
  const ModelSpec model = shapes::llama({40, 8192, 64, 64, 128, 22528, 256000});
  Deployment deployment;
  deployment.cache = cache_formats("fp16");
  const PartAccount account(options_with({}), model, deployment, machine_with(2));
  Split split = all_on_gpus(model, {12, 29});
  auto lines = account.lines(account.assigned(split), Tokens(4096), 1);
  CHECK(mib(line_of(lines, 0, "cache")) == 1536);
  CHECK(mib(line_of(lines, 1, "cache")) == 3584);
  split.cache_on_host = true;
  lines = account.lines(account.assigned(split), Tokens(4096), 1);
  CHECK(mib(line_of(lines, 2, "cache")) == 5120);
  CHECK(line_of(lines, 0, "cache").n == 0);
}

TEST_CASE("a tied token table is held twice: on the host, and on a GPU as the head") {
  ModelSpec model = shapes::llama3_8b();
  model.tied_head = true;
  std::erase_if(model.ends, [](const Weight& w) { return w.role == Role::head; });
  Deployment deployment;
  deployment.cache = cache_formats("fp16");
  const PartAccount account(options_with({}), model, deployment, machine_with(1));
  const Bytes table(2 * 128256 * 4096);
  auto lines = account.lines(account.assigned(all_on_gpus(model)), Tokens(512), 1);
  CHECK(line_of(lines, 1, "token table") == table);
  CHECK(line_of(lines, 0, "token table, again as the head") == table);
  lines = account.lines(account.assigned(Split{}), Tokens(512), 1);
  CHECK(line_of(lines, 1, "token table, again as the head").n == 0);
}

TEST_CASE("experts of the first layers stay on the host, all else on the GPU") {
  const ModelSpec model = olmoe();
  Split split = all_on_gpus(model);
  split.cpu_moe = 4;
  const Bytes experts(16L * 64 * 3 * 1024 * 2048 * 2);  // of all layers, in 16 bits
  Deployment deployment;
  deployment.cache = cache_formats("fp16");
  const PartAccount account(options_with({}), model, deployment, machine_with(1));
  const auto lines = account.lines(account.assigned(split), Tokens(512), 1);
  CHECK(line_of(lines, 1, "routed experts").n == experts.n / 4);
  CHECK(line_of(lines, 0, "routed experts").n == experts.n / 4 * 3);
  CHECK(line_of(lines, 1, "layers").n == 0);
}

TEST_CASE("overrides send tensors where their names match, the first match holding") {
  const ModelSpec model = olmoe();
  const auto split_with = [&](const std::string& text) {
    Split split = all_on_gpus(model);
    split.overrides = asked_split(options_with({{"override_tensor", text}}), model, 1).overrides;
    return assignment_of(model, split, 1);
  };
  const Assignment all = split_with("exps=CPU");
  const Assignment some = split_with("blk\\.([0-3])\\.ffn_.*_exps=CPU");
  const Assignment spared = split_with("blk\\.2\\.ffn_gate_exps=CUDA0,exps=CPU");
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(all.weights[i] == std::vector<std::size_t>{0, 0, 0, 0, 0, 1, 1, 1});
    CHECK(some.weights[i][5] == (i < 4 ? 1 : 0));
    CHECK(spared.weights[i][5] == (i == 2 ? 0 : 1));
  }
}

TEST_CASE("nothing is lost and nothing is held twice, wherever layers go") {
  const ModelSpec model = olmoe();
  Bytes whole;
  for (const Bytes b : weights_of(model, Split{}, 1)) whole += b;
  for (std::int64_t layers = 0; layers <= 17; ++layers)
    for (std::int64_t moe = 0; moe <= 16; moe += 4) {
      Split split;
      split.gpu_layers = layers;
      split.cpu_moe = moe;
      split.shares = {1, 2};
      Bytes sum;
      for (const Bytes b : weights_of(model, split, 2)) sum += b;
      CHECK(sum == whole);
    }
}

TEST_CASE("buffers for what the host holds are within their intervals in start-up logs") {
  const auto buffers = [](const char* name, const char* weights, std::int64_t context,
                          const Split& split) {
    const ModelSpec model = apply_recipe(Catalog().model(name), weights);
    Deployment deployment;
    deployment.cache = cache_formats("fp16");
    const PartAccount account(options_with({{"flash_attn", "on"}}), model, deployment,
                              machine_with(1));
    std::vector<BudgetLine> found;
    for (const PartLine& line : account.lines(account.assigned(split), Tokens(context), 1))
      if (line.what == "compute buffer") found.push_back(line.bytes);
    return found;
  };
  Split experts;
  experts.gpu_layers = 95;
  experts.cpu_moe = 94;
  // CUDA0 1024.00 MiB, CUDA_Host 72.01 MiB (ikawrakow/ik_llama.cpp#357).
  auto lines = buffers("qwen3-235b-a22b", "q8_0", 32768, experts);
  CHECK(mib(lines[0].low) < 1024.0);
  CHECK(mib(lines[0].high) > 1024.0);
  CHECK(mib(lines[1].value) == doctest::Approx(72.01).epsilon(0.0002));
  // Nothing on the GPU, flash attention off: CUDA0 1480.00 MiB, CUDA_Host 15.01 MiB
  // (ggml-org/llama.cpp#12614).
  lines = buffers("qwen2.5-7b", "fp16", 4096, Split{});
  CHECK(mib(lines[0].low) < 1480.0);
  CHECK(mib(lines[0].high) > 1480.0);
  CHECK(mib(lines[1].value) == doctest::Approx(15.01).epsilon(0.001));
}

TEST_CASE("a load that ran out of memory does not fit, and does with its cache on the host") {
  // Qwen2 14B in Q5_K_M, 42 of 48 layers in "about 8.5" of 10 GB, 32k of q8_0 cache "about 3.5 GB"
  // (lmstudio-ai/lmstudio-bug-tracker#542).
  const ModelSpec model = apply_recipe(Catalog().model("qwen2.5-14b"), "q5_k_m");
  Machine machine = machine_with(1);
  machine.gpus[0].memory.value = Bytes(10 * kGiB);
  EngineOptions options = options_with({});
  options.reserve = Bytes(0);
  Deployment deployment;
  deployment.cache = cache_formats("q8_0");
  const PartAccount account(options, model, deployment, machine);
  Split split;
  split.gpu_layers = 42;
  auto lines = account.lines(account.assigned(split), Tokens(32768), 1);
  const double weights = line_of(lines, 0, "layers").real() + line_of(lines, 0, "output").real();
  CHECK(weights == doctest::Approx(8.5e9).epsilon(0.02));
  const double cache = line_of(lines, 0, "cache").real() + line_of(lines, 1, "cache").real();
  CHECK(cache == doctest::Approx(3.5e9).epsilon(0.05));
  CHECK_FALSE(account.fits(account.assigned(split), Tokens(32768), 1));
  split.cache_on_host = true;
  CHECK(account.fits(account.assigned(split), Tokens(32768), 1));
}

TEST_CASE("tensors have the names that overrides are written for") {
  const ModelSpec model = olmoe();
  std::vector<std::string> names;
  for (const Weight& w : model.layers[7].weights) names.push_back(tensor_name(w, 7));
  CHECK(names == std::vector<std::string>{"blk.7.attn_q.weight", "blk.7.attn_k.weight",
                                          "blk.7.attn_v.weight", "blk.7.attn_output.weight",
                                          "blk.7.ffn_gate_inp.weight", "blk.7.ffn_gate_exps.weight",
                                          "blk.7.ffn_up_exps.weight",
                                          "blk.7.ffn_down_exps.weight"});
}

TEST_CASE("split mode none puts all layers on the main GPU") {
  const ModelSpec model = olmoe();
  Split split = all_on_gpus(model);
  split.shares =
      *asked_split(options_with({{"split_mode", "none"}, {"main_gpu", "1"}}), model, 2).shares;
  CHECK(layers_by_gpu(split, 17, 2) == std::vector<std::int64_t>{0, 17});
  CHECK_THROWS_AS(asked_split(options_with({{"split_mode", "none"}, {"main_gpu", "2"}}), model, 2),
                  Error);
}

TEST_CASE("split flags that cannot be followed are refused by name") {
  const ModelSpec model = olmoe();
  const auto key_of = [&](const char* key, const char* text) -> std::string {
    try {
      asked_split(options_with({{key, text}}), model, 2);
      return "";
    } catch (const Error& e) {
      return e.key;
    }
  };
  CHECK(key_of("override_tensor", "exps") == "override_tensor");
  CHECK(key_of("override_tensor", "exps=TPU7") == "override_tensor");
  CHECK(key_of("override_tensor", "(=CPU") == "override_tensor");
  CHECK(key_of("override_tensor", "(a*)*b=CPU") == "override_tensor");
  CHECK(key_of("tensor_split", "1,x") == "tensor_split");
  CHECK(key_of("tensor_split", "1,1,1") == "tensor_split");
  CHECK(key_of("tensor_split", "0,0") == "tensor_split");
  CHECK(key_of("tensor_split", "nan,1") == "tensor_split");
  CHECK(key_of("n_gpu_layers", "-3") == "n_gpu_layers");
  CHECK(key_of("n_cpu_moe", "some") == "n_cpu_moe");
  CHECK(key_of("n_gpu_layers", "all") == "");
}
