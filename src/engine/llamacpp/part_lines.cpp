// SPDX-License-Identifier: Apache-2.0
#include "engine/llamacpp/part_lines.h"

#include <algorithm>

#include "engine/budget_lines.h"
#include "engine/llamacpp/memory.h"

namespace kvplan::llamacpp {
namespace {

std::string_view kind_of(const Weight& w) {
  switch (w.role) {
    case Role::routed_expert:
      return "routed experts";
    case Role::vision:
      return "vision";
    default:
      return "layers";
  }
}

// Sums by part and name, in the order of first mention.
class Lines {
 public:
  void add(std::size_t part, std::string_view what, Bytes bytes) {
    if (bytes.n == 0) return;
    for (PartLine& line : all_)
      if (line.part == part && line.what == what) {
        line.bytes = exact_line(line.bytes.value + bytes, line.bytes.source);
        return;
      }
    all_.push_back({part, what, exact_line(bytes)});
  }
  void add(PartLine line) {
    if (line.bytes.high.n > 0) all_.push_back(line);
  }
  std::vector<PartLine> by_part() {
    std::stable_sort(all_.begin(), all_.end(),
                     [](const PartLine& a, const PartLine& b) { return a.part < b.part; });
    return std::move(all_);
  }

 private:
  std::vector<PartLine> all_;
};

void add_weights(Lines& lines, const ModelSpec& model, const Assignment& where) {
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    for (std::size_t k = 0; k < model.layers[i].weights.size() && !where.unloaded[i]; ++k) {
      const Weight& w = model.layers[i].weights[k];
      lines.add(where.weights[i][k], kind_of(w), held(w));
    }
  bool tied = model.tied_head;
  for (const Weight& w : model.ends) {
    const bool table = w.role == Role::embedding;
    lines.add(table ? where.table : where.output, table ? "token table" : "output", held(w));
    if (table && tied && where.table != where.output)
      lines.add(where.output, "token table, again as the head", held(w));
    tied = tied && !table;
  }
  for (const Weight& w : model.vision) lines.add(where.vision, kind_of(w), held(w));
}

// The largest tensor on the host that a prompt multiplies with.
Bytes largest_on_host(const ModelSpec& model, const Assignment& where) {
  const std::size_t host = where.parts - 1;
  Bytes most;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    for (std::size_t k = 0; k < model.layers[i].weights.size(); ++k)
      if (const Weight& w = model.layers[i].weights[k];
          where.weights[i][k] == host && w.is_matrix && !where.unloaded[i])
        most = std::max(most, held(w));
  if (where.output != host) return most;
  bool tied = model.tied_head;
  for (const Weight& w : model.ends) {
    if (w.role == Role::head || (w.role == Role::embedding && tied)) most = std::max(most, held(w));
    tied = tied && w.role != Role::embedding;
  }
  return most;
}

}  // namespace

Serving serving_of(const EngineOptions& options, const ModelSpec& model,
                   const CacheFormats& cache) {
  return options.name == "ollama" ? ollama_of(options, model, cache)
                                  : server_of(options, model, cache);
}

PartAccount::PartAccount(const EngineOptions& options, const ModelSpec& model,
                         const Deployment& deployment, const Machine& machine)
    : options_(options),
      model_(model),
      cache_(deployment.cache),
      machine_(machine),
      serving_(serving_of(options, model, deployment.cache)),
      buffer_(model_, serving_, machine.gpus.empty()),
      copies_to_gpu_(asked_split(options, model, machine.gpus.size()).copies_to_gpu) {}

Assignment PartAccount::assigned(const Split& split) const {
  return assignment_of(model_, split, machine_.gpus.size(), serving_.drafts_with_mtp);
}

// A GPU that multiplies what the host holds has room for a copy of one tensor beside its own
// temporaries: 1024.00 MiB for Qwen3-235B-A22B in q8_0 with 816 MiB tensors of experts
// (ikawrakow/ik_llama.cpp#357), 1480.00 MiB for Qwen2.5-7B in f16 with a head of 1039.5 MiB on the
// host (ggml-org/llama.cpp#12614). The host stages masks and hidden rows: 36.01 MiB for
// Qwen3-30B-A3B at 16,384 tokens (ikawrakow/ik_llama.cpp#514).
std::vector<PartLine> PartAccount::fixed_lines(std::size_t part, Bytes host_matrix,
                                               std::int64_t cells) const {
  const bool on_host = machine_.gpus.empty();
  const BudgetLine all = buffer_.at(cells);
  if (part == machine_.host_part()) {
    const Bytes staged(
        checked_mul(checked_mul(serving_.batch, checked_add(cells, model_.hidden)), 4));
    const BudgetLine held =
        on_host && all.value > staged
            ? all
            : line_between(staged, staged, Bytes(mul_div(staged.n, 115, 100)), Basis::engine_rule,
                           "masks and hidden rows of one micro-batch");
    return {{part, "system",
             line_between(Bytes(kGiB), Bytes(2 * kGiB), Bytes(4 * kGiB), Basis::assumed,
                          "operating system and programs")},
            {part, "compute buffer", held}};
  }
  const Bytes margin = options_.reserve.value_or(serving_.margin);
  PartLine kept{part, "kept free",
                options_.reserve ? exact_line(margin, "--reserve")
                                 : line_between(margin, margin, margin, Basis::engine_rule,
                                                serving_.margin_source)};
  PartLine context{part, "driver context",
                   line_between(Bytes(200 * kMiB), Bytes(400 * kMiB), Bytes(600 * kMiB),
                                Basis::assumed, "context of the driver and its libraries")};
  PartLine compute{part, "compute buffer", all};
  const Bytes buffer = all.value;
  if (part == 0 && copies_to_gpu_ && host_matrix.n > 0)
    compute.bytes = line_between(
        host_matrix + Bytes(mul_div(buffer.n, 6, 10)), host_matrix + buffer,
        host_matrix + Bytes(mul_div(buffer.n, 15, 10)), Basis::engine_rule,
        "the largest tensor on the host is copied for a prompt, beside the GPU's own buffer");
  return {kept, context, compute};
}

std::vector<PartLine> PartAccount::lines(const Assignment& where, Tokens context,
                                         std::int64_t batch) const {
  Lines lines;
  add_weights(lines, model_, where);
  const Cells cells = cells_of(serving_, context, batch);
  const auto devices = parts_of(model_, cache_, serving_, where);
  const Bytes host_matrix = largest_on_host(model_, where);
  for (std::size_t p = 0; p < where.parts; ++p) {
    lines.add(p, "cache", cache_bytes(devices[p], serving_, cells));
    for (const PartLine& line : fixed_lines(p, host_matrix, cells.cells)) lines.add(line);
  }
  return lines.by_part();
}

std::vector<Bytes> PartAccount::used(const Assignment& where, Tokens context,
                                     std::int64_t batch) const {
  std::vector<Bytes> sums(where.parts);
  for (const PartLine& line : lines(where, context, batch)) sums[line.part] += line.bytes.value;
  return sums;
}

bool PartAccount::fits(const Assignment& where, Tokens context, std::int64_t batch) const {
  const auto sums = used(where, context, batch);
  for (std::size_t p = 0; p < sums.size(); ++p)
    if (const auto memory = machine_.memory(p); memory && sums[p] > *memory) return false;
  return true;
}

Bytes PartAccount::overhead(std::size_t gpu, Bytes host_matrix, Tokens context,
                            std::int64_t batch) const {
  Bytes sum;
  const std::int64_t cells = cells_of(serving_, context, batch).cells;
  for (const PartLine& line : fixed_lines(gpu, host_matrix, cells)) sum += line.bytes.value;
  return sum;
}

}  // namespace kvplan::llamacpp
