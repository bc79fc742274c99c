// SPDX-License-Identifier: Apache-2.0
#include "cost/decode.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cost/breakdown.h"
#include "cost/devices.h"
#include "model/shapes.h"

using namespace kvplan;

namespace {

ModelSpec in_format(ModelSpec model, std::string_view name) {
  const Format* format = &format_named(name);
  for (Layer& layer : model.layers)
    for (Weight& w : layer.weights)
      if (w.is_matrix) w.format = format;
  for (Weight& w : model.ends)
    if (w.role == Role::head) w.format = format;
  return model;
}

Deployment deployment(std::int64_t tp = 1, std::int64_t pp = 1, std::int64_t dp = 1,
                      std::int64_t ep = 1, std::int64_t dcp = 1) {
  Deployment d;
  d.parallel = {tp, pp, dp, ep, dcp};
  return d;
}

double rate(const ModelSpec& model, const DeviceSpec& device, std::int64_t context = 0,
            std::int64_t batch = 1, const Deployment& d = {}) {
  const Step step = DecodeModel(model, d, device).at(Tokens(context), batch);
  return static_cast<double>(batch) / step.seconds.value().v;
}

}  // namespace

TEST_CASE(
    "5.37 billion layer weights on 2 TB/s decode at most 186, 373 and 745 tokens per second") {
  ModelSpec model = shapes::llama({32, 4096, 32, 32, 128, 8192, 32000});
  model.ends.clear();
  const DeviceSpec device = devices::plain(2.0e12);
  CHECK(std::floor(rate(in_format(model, "fp16"), device)) == 186);
  CHECK(rate(in_format(model, "int8"), device) == doctest::Approx(372.5).epsilon(1e-3));
  CHECK(rate(in_format(model, "int4"), device) == doctest::Approx(745).epsilon(1e-3));
}

TEST_CASE("LLaMA-7B with its head read and its embedding not decodes at most 151, 303 and 605") {
  const ModelSpec model = shapes::llama();
  const DeviceSpec device = devices::plain(2.0e12);
  CHECK(rate(in_format(model, "fp16"), device) == doctest::Approx(151.4).epsilon(1e-3));
  CHECK(rate(in_format(model, "int8"), device) == doctest::Approx(302.7).epsilon(1e-3));
  CHECK(rate(in_format(model, "int4"), device) == doctest::Approx(605.1).epsilon(1e-3));
}

TEST_CASE("a tied head is read once and not held twice") {
  ModelSpec tied = shapes::llama();
  tied.ends.pop_back();
  tied.tied_head = true;
  const DeviceSpec device = devices::plain(1e12);
  const DecodeModel whole(shapes::llama(), {}, device), shared(tied, {}, device);
  CHECK(shared.at(Tokens(1), 1).weight_bytes == whole.at(Tokens(1), 1).weight_bytes);
  CHECK(resident_on_fullest_gpu(tied, {}) + Bytes(32000 * 4096 * 2) ==
        resident_on_fullest_gpu(shapes::llama(), {}));
  // The last of several stages needs its own copy of the table.
  const auto stages = rank_terms(tied, deployment(1, 2));
  CHECK(stages[1].resident == rank_terms(shapes::llama(), deployment(1, 2))[1].resident);
}

TEST_CASE("a step reads weights once and the cache of each sequence, and writes one token each") {
  const Step step = DecodeModel(shapes::llama3_8b(), {}, devices::h100()).at(Tokens(8192), 16);
  // 32 layers x 8 KV heads x 128 x 2 x 2 B = 131,072 B per token.
  CHECK(step.kv_bytes == Bytes(131072LL * (8192 + 1) * 16));
  // 8.03 B parameters without the table, and 16 rows of it.
  CHECK(step.weight_bytes == Bytes((8030261248LL - 128256 * 4096) * 2 + 16 * 4096 * 2));
  CHECK(step.bound == Bound::bandwidth);
}

TEST_CASE("bytes that the last-level cache keeps between steps do not count") {
  const DeviceSpec h100 = devices::h100();
  DeviceSpec without = h100;
  without.last_level_cache.reset();
  const ModelSpec model = shapes::llama3_8b();
  const double bytes = 1 / rate(model, without, 1) * 3.35e12;
  CHECK(1 / rate(model, h100, 1) * 3.35e12 == doctest::Approx(bytes - 50.0 * kMiB));
  // A model of 1 MB stays there: arithmetic is all that is left.
  const ModelSpec tiny = shapes::llama({2, 64, 4, 4, 16, 128, 1000});
  const Step step = DecodeModel(tiny, {}, h100).at(Tokens(1), 1);
  CHECK(step.bound == Bound::compute);
  CHECK(step.seconds.value() > Seconds(0));
}

TEST_CASE("without bandwidth, or with nothing left to do, there is no ceiling") {
  CHECK_FALSE(DecodeModel(shapes::llama(), {}, devices::plain(0)).at(Tokens(1), 1).seconds);
  DeviceSpec device = devices::plain(1e12);
  device.last_level_cache = Fact<Bytes>{Bytes(kGiB), "", false};
  const ModelSpec tiny = shapes::llama({2, 64, 4, 4, 16, 128, 1000});
  CHECK_FALSE(DecodeModel(tiny, {}, device).at(Tokens(1), 1).seconds);
}

TEST_CASE("narrow weights may use the narrow units, wide weights may not") {
  const DeviceSpec h100 = devices::h100();
  CHECK(h100.peak_for(format_named("bf16"))->v == 989e12);
  CHECK(h100.peak_for(format_named("q6_k"))->v == 1979e12);
  CHECK(h100.peak_for(format_named("int4-g128"))->v == 1979e12);
  CHECK_FALSE(h100.peak_for(format_named("fp32")));
}

TEST_CASE("arithmetic passes weight reads at peak over bandwidth sequences") {
  // 2 flops per weight and token against 2 bytes per weight: batch = 1e14 / 1e12. Caches at
  // context 0 add a token's write, norms read and multiply nothing.
  const DecodeModel model(shapes::llama3_70b(), {}, devices::plain(1e12, 1e14));
  CHECK(model.crossover_batch(Tokens(0)).value() == doctest::Approx(100).epsilon(0.03));
  CHECK(model.at(Tokens(0), 50).bound == Bound::bandwidth);
  CHECK(model.at(Tokens(0), 200).bound == Bound::compute);
}

TEST_CASE("cache reads pass weight reads where context x bytes per token reaches the weights") {
  const ModelSpec model = shapes::llama();
  const DecodeModel decode(model, {}, devices::plain(1e12));
  const double weights = decode.at(Tokens(1), 8).weight_bytes.real();
  const double context = decode.crossover_context(8).value().real();
  CHECK(context == doctest::Approx(weights / (8 * 524288.0)).epsilon(1e-3));
  CHECK(decode.crossover_batch(Tokens(200000)) == 1);
}

TEST_CASE("experts: the ceiling lets all tokens agree, typical spreads them") {
  const DecodeModel model(shapes::deepseek_v3(), {}, devices::h100());
  const Step one = model.at(Tokens(1024), 1), many = model.at(Tokens(1024), 128);
  CHECK(one.typical_seconds == one.seconds);
  // 58 layers of 256 experts of 3 x 7168 x 2048 x 2 B; 128 tokens reach 1 - (31/32)^128 of them.
  const double experts = 58.0 * 256 * 3 * 7168 * 2048 * 2;
  const double share = 1 - std::pow(31.0 / 32, 128);
  CHECK((many.typical_seconds->v - many.seconds->v) * 3.35e12 ==
        doctest::Approx(experts * (share - 1.0 / 32)).epsilon(1e-6));
}

TEST_CASE("MLA attends in absorbed form, and expanded where a long prefix is shared by many") {
  const ModelSpec model = shapes::deepseek_v3();
  const DeviceSpec device = devices::h100();
  const auto flops = [&](std::int64_t context, std::int64_t batch, std::int64_t prefix) {
    Deployment d;
    d.shared_prefix = Tokens(prefix);
    return DecodeModel(model, d, device).at(Tokens(context), batch).flops.v;
  };
  const double absorbed = 61.0 * 2 * 128 * (2 * 512 + 64);  // per context token and sequence
  CHECK(flops(2000, 1, 0) - flops(1000, 1, 0) == doctest::Approx(1000 * absorbed));
  // 1000 sequences: 2 x 128 x (128 + 64 + 128) each, and 2 x 128 x 256 x 512 once per token.
  const double expanded = 61.0 * 2 * 128 * (320.0 * 1000 + 256.0 * 512);
  CHECK(flops(2000, 1000, 2000) - flops(1000, 1000, 1000) ==
        doctest::Approx(1000 * expanded).epsilon(1e-6));
}

TEST_CASE("a shared prefix is read once for the batch") {
  const ModelSpec model = shapes::llama3_8b();
  Deployment shared;
  shared.shared_prefix = Tokens(6000);
  const auto cache = [&](const Deployment& d) {
    return DecodeModel(model, d, devices::h100()).at(Tokens(8000), 32).kv_bytes;
  };
  CHECK(cache({}) - cache(shared) == Bytes(131072LL * 6000 * 31));
  // Windows have left the prefix behind.
  const ModelSpec windows = shapes::gpt_oss_120b();
  const auto of_windows = [&](const Deployment& d) {
    return DecodeModel(windows, d, devices::h100()).at(Tokens(8000), 32).kv_bytes;
  };
  CHECK(of_windows({}) - of_windows(shared) == Bytes(36864LL * 6000 * 31));
}

TEST_CASE("tensor parallelism divides matrices and KV heads and repeats what it cannot divide") {
  const ModelSpec model = shapes::llama3_70b();
  const DeviceSpec device = devices::h100();
  const Step one = DecodeModel(model, {}, device).at(Tokens(4096), 8);
  const Step eight = DecodeModel(model, deployment(8), device).at(Tokens(4096), 8);
  CHECK(eight.kv_bytes == one.kv_bytes);
  CHECK(eight.flops.v == doctest::Approx(one.flops.v));
  // Norms are held by each of the eight.
  CHECK(eight.weight_bytes == one.weight_bytes + Bytes(7LL * 161 * 8192 * 2));
  CHECK(eight.seconds->v < one.seconds->v / 7.5);
  // Latents are repeated.
  const ModelSpec latent = shapes::deepseek_v3();
  CHECK(DecodeModel(latent, deployment(8), device).at(Tokens(4096), 8).kv_bytes ==
        DecodeModel(latent, {}, device).at(Tokens(4096), 8).kv_bytes * 8);
}

TEST_CASE("context parallelism divides what tensor parallelism repeats, but not the arithmetic") {
  const ModelSpec model = shapes::deepseek_v3();
  const DeviceSpec device = devices::h100();
  const Step repeated = DecodeModel(model, deployment(8), device).at(Tokens(80000), 8);
  const Step divided = DecodeModel(model, deployment(8, 1, 1, 1, 8), device).at(Tokens(80000), 8);
  CHECK(divided.kv_bytes.real() == doctest::Approx(repeated.kv_bytes.real() / 8).epsilon(1e-3));
  CHECK(divided.flops.v == doctest::Approx(repeated.flops.v));
}

TEST_CASE("pipeline stages do not make one sequence faster") {
  const ModelSpec model = shapes::llama3_70b();
  DeviceSpec device = devices::h100();
  device.last_level_cache.reset();
  CHECK(rate(model, device, 4096, 1, deployment(1, 4)) ==
        doctest::Approx(rate(model, device, 4096)).epsilon(1e-3));
  // With many sequences every stage works at once.
  CHECK(rate(model, device, 16384, 64, deployment(1, 4)) > 1.9 * rate(model, device, 16384, 64));
}

TEST_CASE("stages are as equal as possible and cover every layer") {
  for (std::int64_t layers : {1, 5, 61, 80})
    for (std::int64_t stages = 1; stages <= std::min<std::int64_t>(layers, 8); ++stages) {
      std::int64_t next = 0;
      for (std::int64_t s = 0; s < stages; ++s) {
        const auto [first, end] = stage_layers(layers, stages, s);
        CHECK(first == next);
        CHECK(end - first >= layers / stages);
        CHECK(end - first <= layers / stages + 1);
        next = end;
      }
      CHECK(next == layers);
    }
}

TEST_CASE("expert parallelism spreads experts over replicas that share them") {
  const ModelSpec model = shapes::deepseek_v3();
  const DeviceSpec device = devices::h100();
  // 8 replicas of attention, one set of experts: each GPU holds 32 of 256.
  const auto alone = rank_terms(model, deployment(1, 1, 8));
  const auto spread = rank_terms(model, deployment(1, 1, 8, 8));
  const std::int64_t experts = 58LL * 256 * 3 * 7168 * 2048 * 2;
  CHECK(alone[0].resident - spread[0].resident == Bytes(experts / 8 * 7));
  // Every token still meets 8 experts, and 64 tokens meet one set rather than 8 each of eight sets.
  const Step apart = DecodeModel(model, deployment(1, 1, 8), device).at(Tokens(100), 64);
  const Step pooled = DecodeModel(model, deployment(1, 1, 8, 8), device).at(Tokens(100), 64);
  CHECK(pooled.flops.v == doctest::Approx(apart.flops.v));
  CHECK(*pooled.typical_seconds < *apart.typical_seconds);
}

TEST_CASE("layouts that do not divide are refused with the flag's name") {
  const auto refused = [](const ModelSpec& model, const Deployment& d) {
    try {
      rank_terms(model, d);
    } catch (const Error& error) {
      return error.key;
    }
    return std::string();
  };
  CHECK(refused(shapes::llama3_70b(), deployment(3)) == "--tp");
  CHECK(refused(shapes::llama3_70b(), deployment(1, 81)) == "--pp");
  CHECK(refused(shapes::llama3_70b(), deployment(1, 1, 1, 2)) == "--ep");
  CHECK(refused(shapes::deepseek_v3(), deployment(8, 1, 1, 3)) == "--ep");
  CHECK(refused(shapes::deepseek_v3(), deployment(1, 1, 3, 3)) == "--ep");
  CHECK(refused(shapes::llama3_70b(), deployment(8, 1, 1, 1, 2)) == "--dcp");
  CHECK(refused(shapes::llama3_70b(), deployment(16, 1, 1, 1, 2)).empty());
  CHECK(refused(shapes::deepseek_v3(), deployment(4, 1, 1, 1, 8)) == "--dcp");
  CHECK(refused(shapes::llama3_70b(), deployment(0)) == "--tp");
}

TEST_CASE("what must cross a slow link bounds the step") {
  const ModelSpec model = shapes::llama3_70b();
  DeviceSpec device = devices::h100();
  device.peer->per_direction.value = BytesPerSecond(1e9);
  const Step step = DecodeModel(model, deployment(2), device).at(Tokens(100), 64);
  CHECK(step.bound == Bound::link);
  // Two sums per layer, of each half a row of 8192 numbers in 16 bits.
  CHECK(step.seconds->v == doctest::Approx(80 * 2 * 8192 * 64 / 1e9));
}

TEST_CASE("experts that cannot lie on one GPU make rows cross, as many as no routing avoids") {
  DeviceSpec device = devices::h100();
  device.peer->per_direction.value = BytesPerSecond(1e6);
  const auto seconds = [&](std::int64_t dp, std::int64_t ep) {
    return DecodeModel(shapes::deepseek_v3(), deployment(1, 1, dp, ep), device)
        .at(Tokens(1), dp)
        .seconds->v;
  };
  // 58 layers of 256 experts, 8 for each token, 7,168 values of 4 bits. At 32 experts a GPU one has
  // all 8; at 4 two GPUs are at work and two rows enter one of them; at one expert a GPU, eight.
  CHECK(seconds(64, 64) == doctest::Approx(58 * 2 * 3584 / 1e6));
  CHECK(seconds(256, 256) == doctest::Approx(58 * 8 * 3584 / 1e6));
  CHECK(seconds(8, 8) < 0.1);
}

TEST_CASE("recurrent state is read and written by each step whatever the context") {
  const ModelSpec model = shapes::qwen35_27b();
  const DecodeModel decode(model, {}, devices::h100());
  const auto cache = [&](std::int64_t n) { return decode.at(Tokens(n), 1).kv_bytes; };
  CHECK(cache(2000) - cache(1000) == Bytes(65536LL * 1000));
  // 48 layers: a matrix of 48 x 128 x 128 fp32 twice, 3 rows read and 1 written of 10240 bf16.
  CHECK(cache(0) == Bytes(48LL * (2 * 48 * 128 * 128 * 4 + 4 * 10240 * 2) + 65536));
}

TEST_CASE("more context, batch or bytes is never faster, more bandwidth never slower") {
  for (const ModelSpec& model : {shapes::llama3_8b(), shapes::deepseek_v32(),
                                 shapes::gpt_oss_120b(), shapes::qwen35_27b()}) {
    const DecodeModel slow(model, {}, devices::plain(1e12, 1e14)),
        fast(model, {}, devices::plain(2e12, 1e14));
    Seconds last;
    for (const std::int64_t context : {0, 1, 100, 1000, 10000, 100000}) {
      Seconds of_batch;
      for (const std::int64_t batch : {1, 2, 33, 256}) {
        const Seconds t = slow.at(Tokens(context), batch).seconds.value();
        CHECK(t >= of_batch);
        CHECK(fast.at(Tokens(context), batch).seconds.value() <= t);
        of_batch = t;
      }
      CHECK(of_batch >= last);
      last = of_batch;
    }
  }
}

TEST_CASE("a breakdown's portions add up to the step") {
  for (const ModelSpec& model : {shapes::llama3_70b(), shapes::deepseek_v32(),
                                 shapes::gpt_oss_120b(), shapes::qwen35_27b()}) {
    const DeviceSpec device = devices::h100();
    const Step step = DecodeModel(model, {}, device).at(Tokens(5000), 24);
    Bytes bytes;
    double flops = 0;
    for (const Portion& p : decode_breakdown(model, {}, device, Tokens(5000), 24)) {
      bytes += p.bytes;
      flops += p.flops.v;
    }
    CHECK(bytes == step.weight_bytes + step.kv_bytes);
    CHECK(flops == doctest::Approx(step.flops.v));
  }
}

TEST_CASE("a breakdown shows on which side of the ridge an operator lies") {
  const auto portions = decode_breakdown(shapes::llama3_8b(), {}, devices::h100(), Tokens(4096), 1);
  const auto mlp = std::find_if(portions.begin(), portions.end(),
                                [](const Portion& p) { return p.what == "mlp"; });
  REQUIRE(mlp != portions.end());
  CHECK(mlp->intensity().value() == doctest::Approx(1.0));
  CHECK(mlp->ridge.value() == doctest::Approx(989 / 3.35));
  CHECK(mlp->memory > mlp->arithmetic.value());
}

TEST_CASE("an encoder takes no decode step") {
  ModelSpec model = shapes::llama3_8b();
  for (Layer& layer : model.layers) layer.mixer.causal = false;
  CHECK_FALSE(generates(model));
  CHECK_THROWS_AS(DecodeModel(model, {}, devices::h100()), Error);
  model.layers.back() = shapes::llama3_8b().layers.back();  // a decoder over it
  CHECK(generates(model));
}
