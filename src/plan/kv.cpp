// SPDX-License-Identifier: Apache-2.0
#include "plan/kv.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/stages.h"
#include "model/cache.h"

namespace kvplan {
namespace {

constexpr std::array<std::string_view, 8> kKinds = {"full",  "window",     "chunk", "latent",
                                                    "index", "compressed", "state", "cross"};

// What a group holds per sequence however long the sequence grows; empty for groups that grow
// without end.
std::optional<Bytes> fixed_bytes(const CacheGroup& group, Tokens source) {
  if (std::holds_alternative<State>(group.law) || std::holds_alternative<Source>(group.law))
    return stored_bytes(group, Tokens(0), source);
  if (const auto* window = std::get_if<Window>(&group.law))
    return stored_bytes(group, window->size, source);
  if (const auto* chunk = std::get_if<Chunk>(&group.law))
    return stored_bytes(group, chunk->size, source);
  return std::nullopt;
}

GroupRow row_of(const CacheGroup& group, Tokens source) {
  GroupRow row;
  row.kind = kKinds[group.kind];
  row.layers = static_cast<std::int64_t>(group.layers.size());
  row.readers = static_cast<std::int64_t>(group.readers.size());
  row.bytes_per_token = bytes_per_token(group);
  if (const auto* window = std::get_if<Window>(&group.law)) row.window = window->size;
  if (const auto* chunk = std::get_if<Chunk>(&group.law)) row.window = chunk->size;
  if (const auto* compressed = std::get_if<Compressed>(&group.law)) row.ratio = compressed->ratio;
  row.read_limit = group.read_limit;
  row.bytes_per_sequence = fixed_bytes(group, source);
  return row;
}

Bytes read_by_step(const CacheGroup& group, Tokens context, Tokens source) {
  const auto readers = static_cast<std::int64_t>(group.readers.size());
  if (std::holds_alternative<State>(group.law)) return state_bytes(group) * readers;
  return entry_bytes(group) * checked_mul(read_entries(group, context, source), readers);
}

// "key 8 x 128 bf16 + value 8 x 128 bf16".
std::string entry_text(const CacheGroup& group) {
  constexpr std::array<const char*, 5> kRoles = {"key", "value", "latent", "rope", "index key"};
  std::string text;
  for (const Part& part : group.entry)
    text += (text.empty() ? "" : " + ") + std::string(kRoles[part.role]) + " " +
            std::to_string(part.heads) + " x " + std::to_string(part.width) + " " +
            std::string(part.format->name);
  return text;
}

void explain(const CacheGroup& group, const Load& load, Tokens source, Trace& trace) {
  const auto layers = static_cast<double>(group.layers.size());
  const auto sequences = static_cast<double>(load.batch);
  const std::string kind(kKinds[group.kind]);
  const double total = (stored_bytes(group, load.context, source) * load.batch).real();
  if (std::holds_alternative<State>(group.law)) {
    trace.note(kind + " = layers x state of a layer x sequences",
               {{"layers", layers, ""},
                {"of a layer", state_bytes(group).real(), "B"},
                {"sequences", sequences, ""}},
               total, "B");
    return;
  }
  const double entry = entry_bytes(group).real();
  trace.note(kind + " entry of a layer = " + entry_text(group), {}, entry, "B");
  trace.note(kind + " = layers x entry x entries x sequences",
             {{"layers", layers, ""},
              {"entry", entry, "B"},
              {"entries", static_cast<double>(stored_entries(group, load.context, source)), ""},
              {"sequences", sequences, ""}},
             total, "B");
}

double growth_on_fullest_gpu(const Setup& setup) {
  const Parallelism& p = setup.deployment.parallel;
  double most = 0;
  for (const auto& held : groups_of_stages(setup.model, setup.deployment))
    most = std::max(most, growth_per_token(held, {p.tp, p.dcp}));
  return most;
}

}  // namespace

KvAnswer kv_answer(const Setup& setup, std::span<const Load> loads, Trace* first) {
  const auto groups = cache_groups(setup.model, setup.deployment.cache);
  const auto engine = make_engine(setup.engine, setup.model, setup.deployment);
  const Tokens source = setup.deployment.source_tokens;

  KvAnswer answer;
  answer.bytes_per_token = growth_per_token(groups);
  answer.bytes_per_token_per_gpu = growth_on_fullest_gpu(setup);
  for (const CacheGroup& group : groups) {
    answer.groups.push_back(row_of(group, source));
    answer.bytes_per_sequence += answer.groups.back().bytes_per_sequence.value_or(Bytes(0));
  }
  for (const Load& load : loads) {
    KvRow row{load.context, load.batch, {}, {}, {}, {}};
    row.bytes = engine->reserved_total(load.context, load.batch);
    row.bytes_per_gpu = engine->reserved(load.context, load.batch);
    for (const CacheGroup& group : groups) {
      row.ideal_bytes += stored_bytes(group, load.context, source) * load.batch;
      row.read_bytes_per_step += read_by_step(group, load.context, source) * load.batch;
    }
    answer.rows.push_back(row);
  }
  if (first && !loads.empty())
    for (const CacheGroup& group : groups) explain(group, loads[0], source, *first);
  return answer;
}

}  // namespace kvplan
