// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <numeric>

#include "catalog/catalog.h"
#include "cost/decode.h"
#include "plan/attention.h"
#include "plan/reservation.h"
#include "plan/speculation.h"
#include "report/model.h"
#include "reports/published_tables.h"

using namespace kvplan;

namespace {

const Catalog& catalog() {
  static const Catalog whole;
  return whole;
}

const Attention& attention_in(const ModelSpec& model) {
  return std::get<Attention>(model.layers.front().mixer.kind);
}

std::string shares(std::initializer_list<const char*> names) {
  std::string all;
  for (const char* name : names) {
    const Attention a = attention_in(catalog().model(name));
    all += fmt::format("{}{:.3g}", all.empty() ? "" : " / ",
                       100 * static_cast<double>(a.kv_heads) / static_cast<double>(a.heads));
  }
  return all + " %";
}

// The most KV heads of LLaMA-7B's shape with which 32 users fit an 80 GB A100.
std::string most_heads() {
  Setup setup;
  setup.model = catalog().model("llama-1-7b");
  setup.device = catalog().device("a100-sxm-80gb");
  setup.deployment.cache = cache_formats("fp16");
  std::string all;
  for (const std::int64_t context : {2048, 8192, 32768}) {
    const Load load{Tokens(context), 32};
    const auto rows = attention_rows(setup, std::span(&load, 1), {});
    all += fmt::format("{}{}", all.empty() ? "" : " / ",
                       most_kv_heads(rows, load.context, load.batch).value_or(0));
  }
  return all;
}

// Lengths spread evenly over 1..2,048, blocks of 16.
std::string waste() {
  std::vector<std::int64_t> lengths(2048);
  std::iota(lengths.begin(), lengths.end(), 1);
  const Waste w = reservation_waste(lengths, 2048, 16);
  return fmt::format("contiguous {:.1f} %, blocks {:.2f} %", 100 * w.contiguous, 100 * w.paged);
}

std::string crossover() {
  Deployment plain;
  plain.cache = cache_formats("bf16");
  const DecodeModel model(catalog().model("llama-3.1-8b"), plain, catalog().device("h100-sxm"));
  return fmt::format("{}", model.crossover_batch(Tokens(1024)).value());
}

std::string speculation() {
  std::string all;
  for (const double acceptance : {0.6, 0.8})
    all += fmt::format("{}{:.2f}", all.empty() ? "" : " / ",
                       speculative_speedup(acceptance, 4, 0.05, 1));
  return all;
}

std::string repeated_heads() {
  const Attention a = attention_in(catalog().model("llama-3-8b"));
  return fmt::format("{} x the cache", a.heads / a.kv_heads);
}

}  // namespace

std::vector<PublishedRow> published_advice() {
  return {
      {9,
       "KV cache of LLaMA-1 7B, Llama-2 7B, 13B, 70B, Llama-3 8B, 70B, Mistral 7B, Qwen2 7B as a "
       "share of MHA's",
       "100 / 100 / 100 / 12.5 / 25 / 12.5 / 25 / 14.3 %",
       shares({"llama-1-7b", "llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b",
               "llama-3-70b", "mistral-7b-v0.1", "qwen2-7b"}),
       "100 / 100 / 100 / 12.5 / 25 / 12.5 / 25 / 14.3 %",  // 8/64, 8/32, 8/64, 8/32, 4/28
       "As published: KV heads over query heads."},
      {10, "The attention of Llama-2 70B", "MQA", attention_of(catalog().model("llama-2-70b")),
       "GQA-8", "8 KV heads serve 64 query heads."},
      {12, "Most KV heads for 32 users at 2k / 8k / 32k: LLaMA-7B's shape on an A100 80 GB",
       "< 2k: MHA; 4-8k: heads / 4; 32k and many users: heads / 8", most_heads(),
       // 16 KiB per head and token; some 72 GB beside 13.5 GB of weights: 67, 16.8 and 4.2 heads
       "32 / 16 / 4",
       "It depends on the memory, the users and the length; the rule is literature, shown beside "
       "it."},
      {13, "What blocks save of a contiguous reservation", "80 %", waste(),
       "contiguous 50.0 %, blocks 0.73 %",  // 1 - 1024.5 / 2048; 1 - 1024.5 / 1032
       "It depends on the lengths: here even over 1 to 2,048 tokens, 2,048 reserved, blocks of 16 "
       "(--lengths takes yours)."},
      {14,
       "Batch up to which throughput grows almost with the batch: Llama-3.1 8B on an H100, 1,024 "
       "tokens",
       "almost linear", crossover(),
       "112",  // 15,009,849,344 B of weights against 131,072 x 1,025 B per sequence
       "From there the cache is read longer than the weights."},
      {15,
       "Gain of speculative decoding, 4 drafted tokens of which 60 / 80 % are accepted, a draft "
       "step at 5 %",
       "2-3 times", speculation(),
       "1.92 / 2.80",  // (1 - a^5) / (1 - a) / 1.2
       "Leviathan et al. 2023, equation 1 and theorem 3.8; verification as cheap as a step."},
      {16, "What repeating K/V heads before attention moves, Llama-3 8B", "", repeated_heads(),
       "4 x the cache",  // 32 / 8
       "A copy of heads / KV heads times the cache is written and read again at each step; a "
       "grouped "
       "kernel reads the cache once."},
  };
}
