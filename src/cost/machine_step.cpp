// SPDX-License-Identifier: Apache-2.0
#include "cost/machine_step.h"

#include <algorithm>

#include "cost/pooled.h"
#include "cost/prefill.h"

namespace kvplan {
namespace {

constexpr std::int64_t kActivationBytes = 4;  // ggml's activations are fp32

Bytes kept_by(const DeviceSpec& device) {
  return device.last_level_cache ? device.last_level_cache->value : Bytes(0);
}

// A device that reads and multiplies at its peaks, neither waiting for the other.
Seconds roofline(const DeviceSpec& device, Bytes bytes, Seconds arithmetic) {
  return std::max(std::max(Bytes(0), bytes - kept_by(device)) / device.bandwidth.value, arithmetic);
}

Seconds arithmetic(const DeviceSpec& device, const Format& format, double flops) {
  const auto peak = device.peak_for(format);
  return peak ? Flops(flops) / *peak : Seconds(0);
}

void note_memory(Trace& trace, const DeviceSpec& device, Bytes bytes, Seconds seconds) {
  trace.note("memory of " + device.name + " = (bytes - kept in its cache) / bandwidth",
             {{"bytes", bytes.real(), "B"},
              {"kept", std::min(bytes, kept_by(device)).real(), "B"},
              {"bandwidth", device.bandwidth.value.v, "B/s"}},
             seconds.v, "s");
}

void note_turn(Trace& trace, const DeviceSpec& device, const PartTime& part, Bytes copied,
               std::int64_t passes) {
  trace.note("turn of " + device.name + " = max(bytes / bandwidth, flops / peak) + copies",
             {{"weights", part.weights.real(), "B"},
              {"cache", part.cache.real(), "B"},
              {"bandwidth", device.bandwidth.value.v, "B/s"},
              {"copied to a GPU", copied.real(), "B"},
              {"passes", static_cast<double>(passes), ""}},
             part.seconds.v, "s");
}

bool has_work(const RankTerms& terms) { return !terms.products.empty() || !terms.caches.empty(); }

}  // namespace

// What passes the layers: the tokens of a step, or of prompts.
struct MachineModel::Load {
  Past past;
  std::int64_t sequences = 1, tokens = 1, heads = 1;
  bool prompt = false;

  CacheUse use(const CacheTerm& term) const {
    return prompt ? prompt_use(term, past, sequences) : step_use(term, past, sequences);
  }
  double products(const Product& p) const {
    return p.flops_per_token * static_cast<double>(p.role == Role::head ? heads : tokens);
  }
};

MachineModel::MachineModel(const ModelSpec& model, const Deployment& deployment,
                           const Machine& machine, const Assignment& where, TurnRules rules)
    : machine_(machine),
      rules_(rules),
      prefix_(deployment.shared_prefix),
      source_(deployment.source_tokens),
      hidden_(model.hidden),
      vocabulary_(model.vocabulary),
      output_(where.output),
      terms_(part_terms(model, deployment, where)),
      crossings_(crossings(model, where)) {}

MachineTime MachineModel::step(Tokens context, std::int64_t batch, Trace* trace) const {
  const Load load{{context, prefix_, source_}, batch, batch, batch, false};
  MachineTime time = ceiling(load, trace);
  take_turns(load, time, trace);
  return time;
}

MachineTime MachineModel::prompt(Tokens prompt, std::int64_t batch, Trace* trace) const {
  const Tokens shared = std::min(prefix_, prompt - Tokens(1));
  const std::int64_t own = checked_mul((prompt - shared).n, batch);
  const Load load{{prompt, shared, source_}, batch, checked_add(shared.n, own), batch, true};
  MachineTime time = ceiling(load, trace);
  take_turns(load, time, trace);
  return time;
}

// Each part reads what it holds, experts as if all tokens chose the same; the arithmetic may be
// done by whichever part.
MachineTime MachineModel::ceiling(const Load& load, Trace* trace) const {
  MachineTime time;
  std::vector<Demanded> work;
  std::vector<const DeviceSpec*> parts;
  Seconds longest;
  for (std::size_t p = 0; p < terms_.size(); ++p) {
    const DeviceSpec* device = machine_.part(p);
    const RankTerms& t = terms_[p];
    Bytes bytes = t.vectors + std::min(t.tables, t.table_row * load.tokens);
    for (const Product& product : t.products) {
      bytes += Bytes(mul_div(product.bytes.n, product.active, product.experts));
      work.push_back({product.format, load.products(product)});
    }
    for (const CacheTerm& cache : t.caches) {
      const CacheUse use = load.use(cache);
      bytes += use.bytes;
      work.push_back({cache.fastest, use.flops});
    }
    if (!device || device->bandwidth.value.v <= 0) {
      if (has_work(t)) return time;  // nothing bounds a part of which nothing is known
      continue;
    }
    parts.push_back(device);
    const Seconds memory = roofline(*device, bytes, Seconds(0));
    if (trace) note_memory(*trace, *device, bytes, memory);
    if (memory <= longest) continue;
    longest = memory;
    time.bound = p == machine_.host_part() ? Bound::host : Bound::bandwidth;
    time.bound_part = p;
  }
  for (const Demanded& d : work) time.flops += d.flops;
  const bool all_known = machine_.host.has_value();
  const auto multiplied = all_known ? pooled_arithmetic(work, parts) : std::nullopt;
  if (multiplied && *multiplied > longest) longest = *multiplied, time.bound = Bound::compute;
  if (longest.v > 0) time.ceiling = longest;
  if (trace && multiplied)
    trace->note("arithmetic = flops / peaks of all parts together", {{"flops", time.flops, "flop"}},
                multiplied->v, "s");
  if (trace && time.ceiling)
    trace->note("ceiling = the longest of these", {}, time.ceiling->v, "s");
  return time;
}

// One pass of `tokens` tokens, `heads` of which need logits, through the layers that a part holds.
MachineModel::Turn MachineModel::turn(std::size_t p, const Load& load, std::int64_t tokens,
                                      std::int64_t heads) const {
  const RankTerms& t = terms_[p];
  const DeviceSpec& device = *machine_.part(p);
  const DeviceSpec* first = machine_.gpus.empty() ? nullptr : &machine_.gpus.front();
  const bool may_copy =
      p == machine_.host_part() && rules_.copies_from && first != nullptr && first->host;
  Turn turn;
  turn.weights = t.vectors + std::min(t.tables, t.table_row * tokens);
  Seconds here, there;  // arithmetic on this part, and on the first GPU
  for (const Product& product : t.products) {
    const std::int64_t n = product.role == Role::head ? heads : tokens;
    if (n == 0) continue;
    const bool copied = may_copy && n >= *rules_.copies_from;
    const bool all = product.active == product.experts || (copied && !rules_.copies_used_experts);
    const double met = share_reached(product.experts, product.active, n);
    const Bytes bytes =
        all ? product.bytes : Bytes(static_cast<std::int64_t>(product.bytes.real() * met));
    const double flops = product.flops_per_token * static_cast<double>(n);
    if (copied) {
      turn.copied += bytes;
      there += arithmetic(*first, *product.format, flops);
    } else {
      turn.weights += bytes;
      here += arithmetic(device, *product.format, flops);
    }
  }
  const double share = static_cast<double>(tokens) / static_cast<double>(load.tokens);
  for (const CacheTerm& cache : t.caches) {
    const CacheUse use = load.use(cache);
    turn.cache += Bytes(static_cast<std::int64_t>(use.bytes.real() * share));
    here += arithmetic(device, *cache.fastest, use.flops * share);
  }
  turn.seconds = roofline(device, turn.weights + turn.cache, here);
  if (turn.copied.n > 0)
    turn.seconds +=
        turn.copied / first->host->per_direction.value + roofline(*first, turn.copied, there);
  return turn;
}

// Activations over each GPU's link, and logits back.
Seconds MachineModel::crossing(const Load& load) const {
  Seconds sum;
  for (std::size_t p = 0; p < machine_.gpus.size(); ++p) {
    const DeviceSpec& gpu = machine_.gpus[p];
    if (!gpu.host) continue;
    Bytes bytes(checked_mul(checked_mul(crossings_[p], load.tokens), hidden_ * kActivationBytes));
    if (p == output_) bytes += Bytes(checked_mul(load.heads, vocabulary_ * kActivationBytes));
    sum += bytes / gpu.host->per_direction.value;
  }
  return sum;
}

// Whether the peaks are known that a prompt's products and scores on this part are bound by.
bool MachineModel::can_multiply(std::size_t p, const Load& load) const {
  const DeviceSpec& device = *machine_.part(p);
  const bool copied = p == machine_.host_part() && rules_.copies_from && !machine_.gpus.empty() &&
                      machine_.gpus.front().host && load.tokens >= *rules_.copies_from;
  const auto knows = [&](const Format& format) { return device.peak_for(format).has_value(); };
  for (const Product& product : terms_[p].products)
    if (!(copied && product.role != Role::head) && !knows(*product.format)) return false;
  for (const CacheTerm& cache : terms_[p].caches)
    if (!knows(*cache.fastest)) return false;
  return true;
}

// A prompt passes in pieces; a matrix is read once by each, experts as far as the tokens of a piece
// reach them.
void MachineModel::take_turns(const Load& load, MachineTime& time, Trace* trace) const {
  const std::int64_t piece = load.prompt ? std::min(rules_.pass_tokens, load.tokens) : load.tokens;
  const std::int64_t before = ceil_div(load.tokens, piece) - 1;  // passes but the last
  const auto times = static_cast<double>(before);
  time.links = crossing(load);
  Seconds in_turn = time.links, slowest;
  time.parts.assign(terms_.size(), {});
  for (std::size_t p = 0; p < terms_.size(); ++p) {
    const DeviceSpec* device = machine_.part(p);
    if (!device || device->bandwidth.value.v <= 0) {
      if (has_work(terms_[p])) return;
      continue;
    }
    if (load.prompt && !can_multiply(p, load)) return;
    const Turn last = turn(p, load, load.tokens - before * piece, load.heads);
    const Turn other = before > 0 ? turn(p, load, piece, 0) : Turn{};
    time.parts[p] = {other.weights * before + last.weights, other.cache * before + last.cache,
                     other.seconds * times + last.seconds};
    time.copied += other.copied * before + last.copied;
    slowest = std::max(slowest, other.seconds);
    if (trace)
      note_turn(*trace, *device, time.parts[p], other.copied * before + last.copied, before + 1);
    in_turn += rules_.overlaps_passes ? last.seconds : time.parts[p].seconds;
  }
  if (rules_.overlaps_passes) in_turn += slowest * times;
  time.in_turn = in_turn;
  if (trace)
    trace->note(rules_.overlaps_passes
                    ? "in turn = last passes + slowest part's other passes + links"
                    : "in turn = sum of turns + links",
                {{"links", time.links.v, "s"}}, in_turn.v, "s");
}

}  // namespace kvplan
