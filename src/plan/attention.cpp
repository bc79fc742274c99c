// SPDX-License-Identifier: Apache-2.0
#include "plan/attention.h"

#include <algorithm>
#include <array>

#include "cost/decode.h"
#include "plan/room.h"

namespace kvplan {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"mha", "gqa", "mqa", "mla", "window"};

struct Evaluated {  // one variant under a deployment
  Setup setup;
  std::vector<CacheGroup> groups;
  std::unique_ptr<Engine> engine;
  std::optional<DecodeModel> decode;
  std::optional<Room> room;
};

// A layout that does not divide the variant's heads leaves it without a speed, not without a size.
Evaluated evaluate(const Setup& base, const Variant& variant) {
  Evaluated e{base, {}, nullptr, {}, {}};
  e.setup.model = variant.model;
  e.groups = cache_groups(variant.model, base.deployment.cache);
  try {
    e.engine = make_engine(base.engine, variant.model, base.deployment);
    if (base.device) {
      e.decode.emplace(variant.model, base.deployment, *base.device);
      e.room.emplace(e.setup);
    }
  } catch (const Error&) {
    e.engine = nullptr;
  }
  return e;
}

Bytes ideal(const std::vector<CacheGroup>& groups, const Load& load, Tokens source) {
  Bytes sum;
  for (const CacheGroup& group : groups)
    sum += stored_bytes(group, load.context, source) * load.batch;
  return sum;
}

}  // namespace

std::vector<AttentionRow> attention_rows(const Setup& setup, std::span<const Load> loads,
                                         std::optional<LatentWidths> latent) {
  const Tokens source = setup.deployment.source_tokens;
  std::vector<AttentionRow> rows;
  std::vector<Bytes> mha;  // per load
  for (const Variant& variant : attention_variants(setup.model, latent)) {
    const Evaluated e = evaluate(setup, variant);
    for (std::size_t i = 0; i < loads.size(); ++i) {
      const Load& load = loads[i];
      AttentionRow row;
      row.variant = variant.name;
      row.variant_kind = kKinds[variant.kind];
      row.original = variant.original;
      row.kv_heads = variant.kv_heads;
      row.context = load.context;
      row.batch = load.batch;
      row.elements_per_token_per_layer = variant.elements_per_token_per_layer;
      for (const CacheGroup& group : e.groups) row.bytes_per_token += bytes_per_token(group);
      row.kv_bytes = ideal(e.groups, load, source);
      if (variant.kind == Variant::mha) mha.push_back(row.kv_bytes);
      if (i < mha.size() && mha[i].n > 0) row.relative_to_mha = row.kv_bytes.real() / mha[i].real();
      row.kv_projection_parameters_per_layer = variant.kv_projection_parameters_per_layer;
      if (e.engine && setup.deployment.parallel.gpus() > 1 && row.kv_bytes.n > 0)
        row.replication =
            e.engine->reserved_total(load.context, load.batch).real() / row.kv_bytes.real();
      if (e.decode)
        if (const auto seconds = e.decode->at(load.context, load.batch).seconds)
          row.ceiling_tokens_per_second = static_cast<double>(load.batch) / seconds->v;
      if (e.room) row.max_batch = e.room->largest_batch(load.context);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::optional<std::int64_t> most_kv_heads(std::span<const AttentionRow> rows, Tokens context,
                                          std::int64_t users) {
  std::optional<std::int64_t> most;
  for (const AttentionRow& row : rows)
    if (row.context == context && row.kv_heads && row.variant_kind != "window" &&
        row.max_batch.value_or(0) >= users)
      most = std::max(most.value_or(0), *row.kv_heads);
  return most;
}

}  // namespace kvplan
