// SPDX-License-Identifier: Apache-2.0
#include "engine/sglang/fraction.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/settings.h"
#include "engine/version.h"

namespace kvplan::sglang {
namespace {

constexpr Version kReservesByMemory{0, 4, 7}, kReservesBySizes{0, 5, 0}, kGraphsOfPrefill{0, 5, 12},
    kDraftsWithin{0, 5, 16};
constexpr double kMibPerGib = 1024;

// What a start knows of its sizes.
struct Start {
  const EngineOptions& options;
  const ModelSpec& model;
  const Parallelism& parallel;
  double mib;   // of the device
  Site site;    // ranks of a stage
  bool spread;  // attention over data-parallel groups

  Settings settings() const { return Settings(options, site); }
  bool on(const char* key) const { return settings().boolean(key).value_or(false); }
  std::string drafter() const { return settings().text("speculative_algorithm").value_or(""); }
  std::int64_t ranks() const { return checked_mul(site.ranks, parallel.pp); }
};

Start start_of(const EngineOptions& options, const ModelSpec& model, const Parallelism& p,
               Bytes memory) {
  const bool spread =
      Settings(options).boolean("enable_dp_attention").value_or(false) || (p.dp > 1 && p.ep > 1);
  Site site = site_of(options, spread ? checked_mul(p.tp, p.dp) : p.tp);
  site.memory = memory;
  return {options, model, p, memory.real() / static_cast<double>(kMiB), site, spread};
}

// Up to 0.4.6: by the number of ranks, more of a large device.
double fraction_by_ranks(const Start& s) {
  constexpr double kLarge = 96 * kMibPerGib, kKept = 18 * kMibPerGib, kAtOnce = 48 * kMibPerGib;
  const std::int64_t n = s.ranks();
  double f = n >= 16 ? 0.79 : n >= 8 ? 0.81 : n >= 4 ? 0.85 : n >= 2 ? 0.87 : 0.88;
  if (s.mib > 80 * kMibPerGib) f = 0.88;
  return s.mib > kLarge ? std::min(f + kAtOnce * (1 - f) / s.mib, (s.mib - kKept) / s.mib) : f;
}

// Up to 0.4.10: by the memory of the device, in MiB.
double reserved_by_memory(const Start& s) {
  const auto n = static_cast<double>(s.ranks());
  double gib = 32;
  if (s.mib < 35 * kMibPerGib)
    gib = 2.8 + n / 10;
  else if (s.mib < 90 * kMibPerGib)
    gib = 9.5 + n / 2;
  else if (s.mib < 160 * kMibPerGib)
    gib = 12 + n / 2;
  if (!s.drafter().empty()) gib += 2;
  if (s.spread) gib += 4;
  return gib * kMibPerGib;
}

double graphs_of_prefill(const Start& s, std::int64_t chunk) {
  constexpr double kEach = 8, kOfLatents = 1536;  // MiB
  const bool latents =
      std::any_of(s.model.layers.begin(), s.model.layers.end(),
                  [](const Layer& l) { return std::holds_alternative<Latent>(l.mixer.kind); });
  const bool captured = s.site.version >= kGraphsOfPrefill
                            ? !s.on("disable_prefill_cuda_graph") && !s.on("disable_cuda_graph") &&
                                  !s.spread && s.parallel.pp == 1 && s.model.vision.empty()
                            : s.on("enable_piecewise_cuda_graph");
  if (!captured) return 0;
  if (latents && s.site.version >= kGraphsOfPrefill) return kOfLatents;
  const auto most = s.settings().integer("piecewise_cuda_graph_max_tokens").value_or(chunk);
  return kEach *
         static_cast<double>(prefill_graphs(latents ? std::min<std::int64_t>(most, 2048) : most));
}

// The largest batch that is captured: of a list, or as told.
double largest_graph(const Start& s) {
  const std::string list = s.settings().text("cuda_graph_bs").value_or("");
  if (list.empty()) return static_cast<double>(s.settings().needed_integer("cuda_graph_max_bs"));
  EngineOptions one;
  std::int64_t most = 0;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    one.settings["cuda_graph_bs"] = list.substr(at, end - at);
    most = std::max(most, *Settings(one).integer("cuda_graph_bs", 1));
    at = end + 1;
  }
  return static_cast<double>(most);
}

double graphs_of_decode(const Start& s) {
  const double batch = largest_graph(s);
  const bool off = s.site.version >= kDraftsWithin &&
                   (s.on("disable_cuda_graph") || s.on("disable_decode_cuda_graph"));
  double mib = off ? 0 : 2 * batch;
  if (s.spread) {
    const double groups =
        static_cast<double>(s.settings().integer("dp_size").value_or(s.parallel.dp));
    mib += 3 * batch * groups + (batch > 300 ? 1.5 * batch * groups : 0);
  }
  return mib;
}

double reserved_for_draft(const Start& s) {
  const std::string algorithm = s.drafter();
  if (algorithm.empty() || algorithm == "NGRAM" || s.site.version >= kDraftsWithin) return 0;
  if (algorithm == "STANDALONE") return 6144;
  return s.site.version >= kGraphsOfPrefill ? 4096 : 2048;
}

// Since 0.5: by the sizes of chunks and graphs, in MiB.
double reserved_by_sizes(const Start& s) {
  const auto chunk =
      std::max<std::int64_t>(s.settings().needed_integer("chunked_prefill_size"), 2048);
  double mib = 512 + 1.5 * static_cast<double>(chunk) + 128 * static_cast<double>(s.ranks()) +
               graphs_of_decode(s) + graphs_of_prefill(s, chunk);
  if (s.mib > 60 * kMibPerGib) mib = std::max(mib, 10 * kMibPerGib);
  return mib + reserved_for_draft(s);
}

double chosen_fraction(const Start& s) {
  if (s.site.version < kReservesByMemory) return fraction_by_ranks(s);
  const double reserved =
      s.site.version < kReservesBySizes ? reserved_by_memory(s) : reserved_by_sizes(s);
  return std::round((s.mib - reserved) / s.mib * 1000) / 1000;
}

}  // namespace

std::int64_t prefill_graphs(std::int64_t most) {
  // {up to, step}: 4, 8, … 32, 48, … 256, …
  constexpr std::array<std::array<std::int64_t, 2>, 6> kSteps = {
      {{32, 4}, {256, 16}, {512, 32}, {1024, 64}, {4096, 256}, {INT64_MAX, 512}}};
  std::int64_t from = 0, count = 0;
  for (const auto& [to, step] : kSteps) {
    count += std::max<std::int64_t>(std::min(most, to) - from, 0) / step;
    from = to;
  }
  return count;
}

Fraction memory_fraction(const EngineOptions& options, const ModelSpec& model, const Parallelism& p,
                         Bytes memory) {
  const auto given = options.utilization
                         ? options.utilization
                         : Settings(options, site_of(options)).number("mem_fraction_static");
  if (given) {
    if (!(*given > 0 && *given < 1)) throw Error("must lie in (0, 1)").of("mem_fraction_static");
    return {*given, *given, *given};
  }
  const double fraction = chosen_fraction(start_of(options, model, p, memory));
  if (model.vision.empty()) return {fraction, fraction, fraction};
  // Towers reduce it to 0.95 times a factor of 0.8 to 1.05 by their size.
  return {0.76 * fraction, 0.95 * fraction, 0.9975 * fraction};
}

}  // namespace kvplan::sglang
