// SPDX-License-Identifier: Apache-2.0
#include "cost/published_runs.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "cost/stage.h"

namespace kvplan {
namespace {

// Units for 16 bits with sums in either width; cards without any (Pascal) run fp32. llama.cpp
// multiplies blocks of weights as 8-bit integers (ggml-cuda: mmq).
std::optional<FlopsPerSecond> peak_of(const DeviceSpec& device, bool blocks) {
  std::optional<FlopsPerSecond> best, int8;
  for (const Peak& p : device.peaks) {
    const bool counts = p.precision == Precision::fp16 || p.precision == Precision::bf16 ||
                        p.precision == Precision::fp32;
    if (counts && (!best || p.rate.value > *best)) best = p.rate.value;
    if (p.precision == Precision::int8) int8 = p.rate.value;
  }
  return blocks && int8 ? int8 : best;
}

struct TermOf {
  std::int64_t micro_batch;

  std::int64_t passes(std::int64_t rows) const { return ceil_div(rows, micro_batch); }

  std::optional<RunTerm> operator()(const GemmShape& s) const {
    const double bits = s.weights->bits;
    RunTerm t;
    t.of = bits >= 16 ? RunTerm::sixteen : bits >= 8 ? RunTerm::eight : RunTerm::fewer;
    t.passes = static_cast<double>(passes(s.m));
    t.bytes = passes(s.m) * stored_bytes(*s.weights, s.n, s.k);
    t.flops = work_of(s).flops;
    return t;
  }
  std::optional<RunTerm> operator()(const MoeShape& s) const {
    const Bytes all = s.experts * (2 * stored_bytes(*s.weights, s.inner, s.hidden) +
                                   stored_bytes(*s.weights, s.hidden, s.inner));
    const double reached =
        share_reached(s.experts, s.chosen, std::min(s.tokens, micro_batch)) * all.real();
    RunTerm t;
    t.of = RunTerm::experts;
    t.passes = static_cast<double>(passes(s.tokens));
    t.bytes = Bytes(static_cast<std::int64_t>(reached)) * passes(s.tokens);
    t.flops = Flops(6 * static_cast<double>(s.hidden) * static_cast<double>(s.inner) *
                    static_cast<double>(s.chosen) * static_cast<double>(s.tokens));
    return t;
  }
  std::optional<RunTerm> operator()(const DecodeAttentionShape& s) const {
    RunTerm t;
    t.of = RunTerm::cache;
    t.bytes = checked_mul(s.batch, s.context) * (cache_row_bytes(*s.key, s.kv_heads, s.k_width) +
                                                 cache_row_bytes(*s.value, s.kv_heads, s.v_width));
    return t;
  }
  std::optional<RunTerm> operator()(const PrefillAttentionShape& s) const {
    RunTerm t;
    t.of = RunTerm::attention;
    t.passes = static_cast<double>(passes(s.queries));
    t.flops = work_of(s).flops;
    return t;
  }
  std::optional<RunTerm> operator()(const LatentDecodeShape&) const { return std::nullopt; }
  std::optional<RunTerm> operator()(const RecurrenceShape&) const { return std::nullopt; }
  std::optional<RunTerm> operator()(const SparseLatentShape&) const { return std::nullopt; }
  std::optional<RunTerm> operator()(const CollectiveShape&) const { return std::nullopt; }
};

struct Shares {
  double bandwidth, peak;
};
Shares shares_of(const RunLaw& law, RunTerm::Of of) {
  switch (of) {
    case RunTerm::sixteen:
      return {law.sixteen, law.rate_sixteen};
    case RunTerm::eight:
      return {law.eight, law.rate_fewer};
    case RunTerm::fewer:
      return {law.fewer, law.rate_fewer};
    case RunTerm::experts:
      return {law.experts, law.rate_experts};
    case RunTerm::cache:
      return {law.cache, 1};
    case RunTerm::attention:
      return {1, law.rate_attention};
  }
  return {1, 1};
}

// The format of weights that no run had; empty: all were met. A mix known by its average is one of
// formats that were.
std::string_view unmet_format(const Launches& launches, const std::vector<std::string>& known) {
  for (const Launch& l : launches.all) {
    const Format* format = nullptr;
    if (const auto* gemm = std::get_if<GemmShape>(&l.shape)) format = gemm->weights;
    if (const auto* moe = std::get_if<MoeShape>(&l.shape)) format = moe->weights;
    if (format && format->mean_millibits == 0 &&
        std::find(known.begin(), known.end(), format->name) == known.end())
      return format->name;
  }
  return {};
}

// What makes run_terms say nothing.
std::string unknown_kernel(const Launches& launches) {
  const auto has = [&](auto is) {
    return std::any_of(launches.all.begin(), launches.all.end(),
                       [&](const Launch& l) { return is(l.shape); });
  };
  if (has([](const Shape& s) { return std::holds_alternative<RecurrenceShape>(s); }))
    return "recurrent layers";
  if (has([](const Shape& s) { return std::holds_alternative<LatentDecodeShape>(s); }))
    return "latent attention";
  if (has([](const Shape& s) { return std::holds_alternative<SparseLatentShape>(s); }))
    return "sparse attention";
  return "several GPUs";
}

bool keeps_other_cache(const Launches& launches) {
  return std::any_of(launches.all.begin(), launches.all.end(), [](const Launch& l) {
    const auto* step = std::get_if<DecodeAttentionShape>(&l.shape);
    const auto* prompt = std::get_if<PrefillAttentionShape>(&l.shape);
    return (step && (step->key->bits != 16 || step->value->bits != 16)) ||
           (prompt && prompt->cache->bits != 16);
  });
}

std::string rest_of(const PublishedRuns::Offset& offset, const std::string& engine,
                    const std::string& where) {
  return std::to_string(offset.runs) + " published run" + (offset.runs == 1 ? "" : "s") + " of " +
         engine + " on " + where;
}

Expected none(std::string why) { return {std::nullopt, std::move(why)}; }

}  // namespace

std::optional<std::vector<RunTerm>> run_terms(const Launches& launches, std::int64_t micro_batch) {
  std::vector<RunTerm> terms;
  for (const Launch& l : launches.all) {
    auto term = std::visit(TermOf{micro_batch}, l.shape);
    if (!term) return std::nullopt;
    term->count = l.count;
    terms.push_back(*term);
  }
  return terms;
}

std::optional<Seconds> time(const RunLaw& law, const std::vector<RunTerm>& terms,
                            const DeviceSpec& device) {
  const auto plain = peak_of(device, false), blocks = peak_of(device, true);
  Seconds sum;
  for (const RunTerm& t : terms) {
    const bool is_blocks =
        t.of == RunTerm::eight || t.of == RunTerm::fewer || t.of == RunTerm::experts;
    const auto peak = is_blocks ? blocks : plain;
    if (!peak) return std::nullopt;
    const auto [bandwidth, rate] = shares_of(law, t.of);
    const Seconds busy =
        std::max(t.bytes / (device.bandwidth.value * bandwidth), t.flops / (*peak * rate));
    const double launches = t.passes * (t.of == RunTerm::experts ? law.expert_launches : 1);
    sum += (law.launch * launches + busy) * static_cast<double>(t.count);
  }
  return sum;
}

const RunLaw* PublishedRuns::law_of(const DeviceSpec& device) const {
  const auto found = std::find_if(vendors.begin(), vendors.end(),
                                  [&](const Vendor& v) { return v.name == device.vendor; });
  return found == vendors.end() ? nullptr : &found->law;
}

const PublishedRuns::Offset* PublishedRuns::offset(const std::vector<Group>& groups,
                                                   std::string_view name, Phase phase) const {
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
  if (found == groups.end()) return nullptr;
  const auto& offset = found->offsets[static_cast<std::size_t>(phase)];
  return offset ? &*offset : nullptr;
}

const PublishedRuns::Width* PublishedRuns::width(Phase phase, std::string_view vendor, bool own,
                                                 bool experts) const {
  const Width* found = nullptr;
  for (const Width& w : widths) {
    const bool counts = w.vendor == vendor || (w.vendor.empty() && !found);
    if (counts && w.phase == phase && w.own == own && w.experts == experts) found = &w;
  }
  return found;
}

std::pair<Tokens, Tokens> PublishedRuns::lengths(Phase phase) const {
  if (phase == Phase::decode) return {Tokens(0), longest_context};
  return {shortest_prompt, longest_prompt};
}

// NVIDIA's architectures of several capabilities differ by them; Apple's chips by their size.
std::string run_family(const DeviceSpec& device) {
  if (device.vendor == "Apple") {
    const std::size_t last = device.architecture.rfind(' ');
    const std::string size = device.architecture.substr(last + 1);
    const bool plain = size.size() > 1 && size[1] >= '0' && size[1] <= '9';
    return plain ? "Apple M" : "Apple " + size;
  }
  std::string name = device.architecture.substr(0, device.architecture.find(' '));
  if (device.vendor == "NVIDIA" && device.compute_capability)
    name += " " + *device.compute_capability;
  return device.vendor + " " + name;
}

std::string run_device(const DeviceSpec& device) {
  const std::size_t last = device.name.rfind('-');
  const bool sized = device.vendor == "Apple" && device.name.ends_with("gb");
  return sized ? device.name.substr(0, last) : device.name;
}

bool has_experts(const Launches& launches) {
  return std::any_of(launches.all.begin(), launches.all.end(),
                     [](const Launch& l) { return std::holds_alternative<MoeShape>(l.shape); });
}

Expected expected(const Launches& launches, const PublishedRuns& runs, const DeviceSpec& device,
                  const RunAsked& asked) {
  const std::string of_engine = "published run of " + runs.engine;
  const std::string family = run_family(device);
  const RunLaw* law = runs.law_of(device);
  const auto* of_family = runs.offset(runs.families, family, asked.phase);
  if (!law || !of_family) return none("no " + of_engine + " on such a device");
  if (!launches.missing.empty()) return none("no law for " + std::string(launches.missing));
  if (const auto format = unmet_format(launches, runs.formats); !format.empty())
    return none("no " + of_engine + " with weights in " + std::string(format));
  if (keeps_other_cache(launches)) return none("no " + of_engine + " with a cache below 16 bits");
  if (const auto [least, most] = runs.lengths(asked.phase);
      asked.tokens < least || asked.tokens > most)
    return none("no " + of_engine + " of " + std::to_string(asked.tokens.n) + " tokens");
  const auto terms = run_terms(launches, asked.micro_batch);
  if (!terms) return none("no " + of_engine + " with " + unknown_kernel(launches));
  const auto plain = time(*law, *terms, device);
  if (!plain) return none("the datasheet gives no peak");
  const auto* own = runs.offset(runs.devices, run_device(device), asked.phase);
  const auto* width = runs.width(asked.phase, device.vendor, own != nullptr, has_experts(launches));
  if (!width) return none("too few published runs of " + runs.engine + " to say how far off it is");
  const Seconds value = *plain * (of_family->factor * (own ? own->factor : 1));
  Expected found;
  found.time = Estimate{value, value * width->low, value * width->high, runs.nominal};
  found.rests_on = rest_of(own ? *own : *of_family, runs.engine,
                           own ? "this device" : "other devices like it (" + family + ")");
  return found;
}

}  // namespace kvplan
