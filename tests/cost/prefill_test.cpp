// SPDX-License-Identifier: Apache-2.0
#include "cost/prefill.h"

#include <doctest/doctest.h>

#include "cost/devices.h"
#include "cost/pairs.h"
#include "model/shapes.h"

using namespace kvplan;

namespace {

CacheGroup group_of(Law law, std::optional<std::int64_t> limit = std::nullopt) {
  CacheGroup group;
  group.law = std::move(law);
  group.read_limit = limit;
  return group;
}

// Query by query, as the definition has it.
double counted(const CacheGroup& group, std::int64_t prompt) {
  double pairs = 0;
  for (std::int64_t i = 1; i <= prompt; ++i)
    pairs += static_cast<double>(read_entries(group, Tokens(i)));
  return pairs;
}

}  // namespace

TEST_CASE("query-key pairs equal a count query by query") {
  for (const CacheGroup& group : {group_of(All{}), group_of(All{}, 10), group_of(Window{Tokens(7)}),
                                  group_of(Window{Tokens(7)}, 3), group_of(Chunk{Tokens(8)}),
                                  group_of(Compressed{4}), group_of(Compressed{4}, 5)})
    for (const std::int64_t n : {1, 2, 7, 8, 9, 39, 40, 41, 100})
      CHECK(query_key_pairs(group, Tokens(n)) == counted(group, n));
}

TEST_CASE("LLaMA-7B's prompt of 2048 tokens takes 27.6 TFLOP, the head once") {
  const Prefill p = prefill(shapes::llama(), {}, devices::h100(), Tokens(2048), 1);
  const double layers = 2.0 * 32 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008) * 2048;
  const double head = 2.0 * 32000 * 4096;
  const double attention = 32.0 * 2 * 32 * 256 * 2048 * 2049 / 2;
  CHECK(p.flops.v == doctest::Approx(layers + head + attention));
  CHECK(p.attention_flops.v == doctest::Approx(attention));
  CHECK(p.seconds->v == doctest::Approx(p.flops.v / 989e12));
  CHECK(p.bound == Bound::compute);
  CHECK(p.kv_bytes == Bytes(524288LL * 2048));
}

TEST_CASE("a short prompt is bound by reading the weights") {
  const Prefill p = prefill(shapes::llama3_70b(), {}, devices::h100(), Tokens(16), 1);
  CHECK(p.bound == Bound::bandwidth);
}

TEST_CASE("a prompt attends to MLA's latents expanded to heads") {
  const Prefill p = prefill(shapes::deepseek_v3(), {}, devices::h100(), Tokens(4096), 1);
  CHECK(p.attention_flops.v == doctest::Approx(61.0 * 2 * 128 * 320 * 4096 * 4097 / 2));
}

TEST_CASE("the ceiling reads k experts, the account all that the tokens can reach") {
  const auto weights = [](std::int64_t n) {
    return prefill(shapes::deepseek_v3(), {}, devices::h100(), Tokens(n), 1).weight_bytes;
  };
  const std::int64_t expert = 58LL * 3 * 7168 * 2048 * 2;  // one in each layer
  CHECK(weights(2) - weights(1) == Bytes(8 * expert + 7168 * 2));
  CHECK(weights(40) - weights(32) == Bytes(8 * 7168 * 2));
}

TEST_CASE("a shared prefix is computed once") {
  Deployment shared;
  shared.shared_prefix = Tokens(1000);
  const ModelSpec model = shapes::llama3_8b();
  const DeviceSpec device = devices::h100();
  const Prefill all = prefill(model, {}, device, Tokens(1500), 4);
  const Prefill once = prefill(model, shared, device, Tokens(1500), 4);
  const Prefill prefix = prefill(model, {}, device, Tokens(1000), 1);
  const double head = 2.0 * 128256 * 4096;
  CHECK(all.flops.v - once.flops.v == doctest::Approx(3 * (prefix.flops.v - head)));
  CHECK(all.kv_bytes - once.kv_bytes == prefix.kv_bytes * 3);
}

TEST_CASE("tensor parallelism divides a prompt's work, and parts add up to the whole") {
  const ModelSpec model = shapes::deepseek_v32();
  const DeviceSpec device = devices::h100();
  Deployment eight;
  eight.parallel.tp = 8;
  const Prefill one = prefill(model, {}, device, Tokens(8192), 2);
  const Prefill divided = prefill(model, eight, device, Tokens(8192), 2);
  // Projections to the latent and the router are repeated by every rank.
  CHECK(divided.flops.v >= one.flops.v);
  CHECK(divided.flops.v < 1.5 * one.flops.v);
  double flops = 0;
  for (const Portion& p : prefill_breakdown(model, {}, device, Tokens(8192), 2)) flops += p.flops.v;
  CHECK(flops == doctest::Approx(one.flops.v));
}

TEST_CASE("in an encoder each token sees all others, not the past alone") {
  const ModelSpec decoder = shapes::llama();
  ModelSpec encoder = decoder;
  for (Layer& layer : encoder.layers) layer.mixer.causal = false;
  const Prefill past = prefill(decoder, {}, devices::h100(), Tokens(512), 3);
  const Prefill all = prefill(encoder, {}, devices::h100(), Tokens(512), 3);
  // n^2 pairs of tokens against n (n + 1) / 2.
  CHECK(all.attention_flops.v == doctest::Approx(past.attention_flops.v * 2 * 512 / 513));
  CHECK(all.flops.v - all.attention_flops.v == past.flops.v - past.attention_flops.v);
  CHECK(all.kv_bytes == Bytes(0));
  CHECK(all.seconds > past.seconds);
}
