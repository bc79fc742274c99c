// SPDX-License-Identifier: Apache-2.0
// Each `right` is worked out by hand: B per token = 2 x heads x width x layers x bytes, and so on.
#include <fmt/format.h>

#include "cost/breakdown.h"
#include "cost/decode.h"
#include "model/parameters.h"
#include "model/recipe.h"
#include "model/shapes.h"
#include "model/variants.h"
#include "plan/attention.h"
#include "plan/caching.h"
#include "reports/published_tables.h"

using namespace kvplan;

namespace {

Setup setup_of(ModelSpec model) {
  Setup setup;
  setup.model = std::move(model);
  setup.deployment.cache = cache_formats("fp16");
  return setup;
}

// "a / b / c", one text for each item.
template <class Items, class Text>
std::string joined(const Items& items, Text text) {
  std::string all;
  for (const auto& item : items) all += (all.empty() ? "" : " / ") + text(item);
  return all;
}

std::vector<AttentionRow> llama_7b_rows() {
  const Load load{Tokens(4096), 2};
  std::vector<AttentionRow> wanted;
  for (AttentionRow& row : attention_rows(setup_of(shapes::llama()), std::span(&load, 1), {}))
    for (const std::int64_t heads : {32, 16, 8, 4, 1})
      if (row.kv_heads == heads && row.variant_kind != "window") wanted.push_back(row);
  return wanted;
}

ModelSpec only(ModelSpec model, std::initializer_list<Role> roles) {
  const auto drop = [&](const Weight& w) {
    return std::find(roles.begin(), roles.end(), w.role) == roles.end();
  };
  for (Layer& layer : model.layers) std::erase_if(layer.weights, drop);
  std::erase_if(model.ends, drop);
  return model;
}

// Tokens per second of the weights alone at 2.0 TB/s: fp16 / int8 / int4.
std::string rates(const ModelSpec& model) {
  DeviceSpec device;
  device.bandwidth.value = BytesPerSecond(2e12);
  return joined(std::array{"fp16", "int8", "int4"}, [&](const char* recipe) {
    const DecodeModel decode(apply_recipe(model, recipe), {}, device);
    const Bytes read = decode.at(Tokens(0), 1).weight_bytes;
    return fmt::format("{:.0f}", device.bandwidth.value.v / read.real());
  });
}

std::string parameters_of_llama_7b() {
  const Parameters p = count_parameters(shapes::llama());
  const auto part = [&](const char* name, std::int64_t n) {
    return fmt::format("{} {:.3f} B ({:.1f} %)", name, static_cast<double>(n) / 1e9,
                       100 * static_cast<double>(n) / static_cast<double>(p.total));
  };
  return fmt::format("{}, {}, {}; total {}", part("attention", p.attention), part("MLP", p.mlp),
                     part("embedding + head", p.embedding), p.total);
}

// GFLOP of one token with 4,096 in the cache.
std::string work_of_llama_7b() {
  shapes::Llama shape;
  shape.inter = 8192;
  DeviceSpec device;
  device.bandwidth.value = BytesPerSecond(2e12);
  Deployment plain;
  plain.cache = cache_formats("fp16");
  std::string text;
  for (const Portion& p : decode_breakdown(shapes::llama(shape), plain, device, Tokens(4096), 1))
    if (p.flops.v > 0)
      text += fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", p.what, p.flops.v / 1e9);
  return text;
}

std::string per_token(const ModelSpec& model) {
  return fmt::format("{:g}", growth_per_token(cache_groups(model, cache_formats("fp16"))) / 1024);
}

std::string sixty_layers() {
  return joined(std::array<std::int64_t, 3>{128, 8, 1},
                [](std::int64_t heads) {
                  return per_token(shapes::llama({60, 16384, 128, heads, 128, 1, 1}));
                }) +
         " / " + per_token(shapes::deepseek_v3(60, 0)) + " KiB";
}

}  // namespace

std::vector<PublishedRow> published_arithmetic() {
  const CachingWork work = caching_work(1000);
  const auto rows = llama_7b_rows();
  shapes::Llama narrow;
  narrow.inter = 8192;
  const ModelSpec layers = only(shapes::llama(narrow), {Role::attention, Role::mlp});
  const ModelSpec headed = only(shapes::llama(narrow), {Role::attention, Role::mlp, Role::head});
  return {
      {1,
       "KV bytes = 2 x KV heads x tokens x head size x layers x bytes x batch; 32 layers, 8 heads "
       "of 128, 4,096 tokens, fp16, batch 3",
       "the formula",
       fmt::format("{}", 3 * stored_bytes(cache_groups(shapes::llama({32, 4096, 32, 8, 128, 1, 1}),
                                                       cache_formats("fp16"))[0],
                                          Tokens(4096))
                                 .n),
       "1610612736",  // 2 x 8 x 4096 x 128 x 32 x 2 x 3
       "As published."},
      {2, "LLaMA-7B's shape, 4,096 tokens, fp16, batch 2, with 32 / 16 / 8 / 4 / 1 KV heads",
       "2.15 / 1.07 / 0.54 / 0.27 / 0.07 GB",
       joined(
           rows,
           [](const AttentionRow& r) { return fmt::format("{:.3f}", r.kv_bytes.real() / 1e9); }) +
           " GB",
       "4.295 / 2.147 / 1.074 / 0.537 / 0.134 GB",  // 2 x 32 x 128 x 32 x 2 x 4096 x 2 = 4.295e9
       "The printed values are those of batch 1; their ratios are right."},
      {3, "W_k + W_v of one of its layers", "4 / 2 / 1 / 0.5 / 0.13 M",
       joined(rows,
              [](const AttentionRow& r) {
                return fmt::format("{:.2f}",
                                   static_cast<double>(r.kv_projection_parameters_per_layer) / 1e6);
              }) +
           " M",
       "33.55 / 16.78 / 8.39 / 4.19 / 1.05 M",  // 2 x 4096 x heads x 128
       "Two matrices of hidden x KV heads x head size."},
      {4, "LLaMA-7B's parameters by part",
       "attention 67 M (9.5 %), MLP 101 M (14.3 %), other 640 M (76 %)", parameters_of_llama_7b(),
       // 32 x 4 x 4096^2; 32 x 3 x 4096 x 11008; 2 x 32000 x 4096; with 65 x 4096 in norms
       "attention 2.147 B (31.9 %), MLP 4.329 B (64.2 %), embedding + head 0.262 B (3.9 %); total "
       "6738415616",
       "Numbers of one layer stand beside the total of all; the MLP is 11,008 wide, not 8,192."},
      {5, "Work to generate 1,000 tokens without a cache against with one", "1000 times",
       fmt::format("attention {:.0f}, projections and MLPs {:.1f} times",
                   work.pairs_uncached / work.pairs_cached,
                   work.tokens_uncached / work.tokens_cached),
       "attention 667, projections and MLPs 500.5 times",  // 333,833,500 / 500,500; 1001 / 2
       "A sum of squares is n^3/3 and a sum n^2/2; projections are recomputed for the prefix."},
      {6, "tokens/s of 5.37 B weights at 2.0 TB/s, fp16 / int8 / int4", "186 / 373 / 745",
       rates(layers), "186 / 373 / 745",  // 2e12 / (5,368,709,120 x 2)
       "As published, for layers with an MLP of 8,192, without embedding or head, and int4 of "
       "exactly "
       "half a byte."},
      {6, "the same, with the head read at each step", "", rates(headed), "182 / 364 / 727",
       "The head is 131 M more weights."},  // 2e12 / (5,499,781,120 x 2)
      {6, "LLaMA-7B as it is", "", rates(shapes::llama()), "151 / 303 / 605",
       "The table is looked up, not read; norms stay in 16 bits."},  // 2e12 / (6,607,343,616 x 2)
      {7, "An A100's 312 TFLOP/s against what 186 tokens/s need", "three orders of magnitude",
       fmt::format("{:.0f} times",
                   312e12 / (186 * 2 * static_cast<double>(count_parameters(layers).total))),
       "156 times", "186 tokens/s x 10.7 GFLOP are 2.0 TFLOP/s."},
      {8, "GFLOP of one decoded token with 4,096 in the cache, MLP of 8,192",
       "MLP ~70 %, head ~28 %", work_of_llama_7b(),
       // 2 x 32 x 4 x 4096^2; 2 x 32 x 3 x 4096 x 8192; 2 x 32000 x 4096; 4 x 4096 x 4097 x 32
       "attention 4.29, mlp 6.44, head 0.26, cache 2.15",
       "MLP 49 %, head 2 %: an MLP of twice the width is 12 d^2 FLOP per layer."},
      {17, "60 layers, 128 heads of 128, fp16: MHA / GQA-8 / MQA / MLA 512+64 per token",
       "3840 / 240 / 30 / 67.5 KiB", sixty_layers(), "3840 / 240 / 30 / 67.5 KiB",
       "As published; the latent equals GQA with 2.25 groups."},  // 576 / (2 x 128)
  };
}
