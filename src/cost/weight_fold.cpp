// SPDX-License-Identifier: Apache-2.0
#include "cost/weight_fold.h"

#include <algorithm>

#include "cost/share.h"

namespace kvplan {
namespace {

bool is_source(const Reach& reach) { return std::holds_alternative<Source>(reach); }

// Keys and values of cross-attention are computed once per request, not by each step: those of a
// layer that looks at nothing else, and those of a decoder beside its encoder, by their names.
bool looks_once(const Weight& w, const Mixer& mixer) {
  const auto& reach = mixer.reach;
  if (std::none_of(reach.begin(), reach.end(), is_source)) return false;
  return w.name == "encoder_attn.k_proj" || w.name == "encoder_attn.v_proj" ||
         (w.sharding == Sharding::kv_heads && std::all_of(reach.begin(), reach.end(), is_source));
}

}  // namespace

void WeightFold::add(const Weight& w, const Mixer* mixer) {
  const Bytes bytes = bytes_on_rank(w, mixer);
  terms_.resident += bytes;
  if (w.role == Role::vision) return;
  if (mixer && looks_once(w, *mixer)) return;
  if (w.role == Role::embedding && !w.is_matrix) {
    terms_.tables += bytes;
    terms_.table_row += Bytes(bytes.n / std::max<std::int64_t>(1, w.rows));
  } else if (w.is_matrix) {
    add_product(w, w.role, parts_of(w, mixer, parallel_), bytes);
  } else {
    terms_.vectors += bytes;
  }
}

void WeightFold::add_tied_head(const Weight& table, bool held) {
  const Bytes bytes = bytes_on_rank(table, nullptr);
  if (!held) terms_.resident += bytes;
  add_product(table, Role::head, parts_of(table, nullptr, parallel_), bytes);
}

void WeightFold::hold(const Weight& w, const Mixer* mixer) {
  terms_.resident += bytes_on_rank(w, mixer);
}

Bytes WeightFold::bytes_on_rank(const Weight& w, const Mixer* mixer) const {
  const Bytes whole = stored_bytes(*w.format, w.rows, w.columns) * w.copies;
  return Bytes(ceil_div(whole.n, parts_of(w, mixer, parallel_)));
}

void WeightFold::add_product(const Weight& w, Role role, std::int64_t parts, Bytes bytes) {
  // Whole experts stay whole under expert parallelism.
  const std::int64_t cut =
      role == Role::routed_expert ? std::max<std::int64_t>(1, parallel_.tp / parallel_.ep) : parts;
  Product p;
  p.role = role;
  p.format = w.format;
  p.rows = divides_inputs(w) ? w.rows : ceil_div(w.rows, cut);
  p.columns = divides_inputs(w) ? ceil_div(w.columns, cut) : w.columns;
  p.experts = w.copies;
  p.active = w.active;
  p.bytes = bytes;
  p.flops_per_token = 2.0 * static_cast<double>(w.rows) * static_cast<double>(w.columns) *
                      static_cast<double>(w.active) / static_cast<double>(parts);
  for (Product& known : terms_.products)
    if (known.role == p.role && known.format == p.format && known.rows == p.rows &&
        known.columns == p.columns && known.experts == p.experts && known.active == p.active) {
      ++known.count;
      known.bytes += p.bytes;
      known.flops_per_token += p.flops_per_token;
      return;
    }
  terms_.products.push_back(p);
}

}  // namespace kvplan
