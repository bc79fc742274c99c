// SPDX-License-Identifier: Apache-2.0
#include "cost/columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "model/cache.h"

namespace kvplan {
namespace {

constexpr std::int64_t kWidestHead = 256;  // 512 runs in other kernels

const std::string& text(const CellAt& at, std::string_view column) {
  const std::string* cell = at(column);
  if (!cell) throw Error("this column is missing").of(std::string(column));
  return *cell;
}

// Sizes beyond 2^40 are not of this world, and their products would not fit.
std::int64_t count(const CellAt& at, std::string_view column, std::int64_t least = 1) {
  const std::string& cell = text(at, column);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (error != std::errc() || end != cell.data() + cell.size() || value < least || value > kMost)
    throw Error("'" + cell.substr(0, 40) + "' is not a count of at least " + std::to_string(least))
        .of(std::string(column));
  return value;
}

// nullptr: a format that has no law (fp8_block rows hold another kernel).
const Format* format(const CellAt& at, std::string_view column) {
  const std::string& name = text(at, column);
  return name == "fp8_block" ? nullptr : find_format(name);
}

std::optional<CollectiveShape::Kind> kind_named(const std::string& name) {
  for (const auto kind : {CollectiveShape::all_reduce, CollectiveShape::all_gather,
                          CollectiveShape::reduce_scatter, CollectiveShape::all_to_all})
    if (name == name_of(kind)) return kind;
  if (name == "alltoall") return CollectiveShape::all_to_all;
  return std::nullopt;
}

std::optional<Recurrent::Kind> recurrence_named(const std::string& name) {
  for (const auto kind :
       {Recurrent::mamba1, Recurrent::mamba2, Recurrent::gated_delta_net, Recurrent::kda,
        Recurrent::short_conv, Recurrent::rwkv, Recurrent::lightning, Recurrent::rg_lru})
    if (name == name_of(kind)) return kind;
  return std::nullopt;
}

using Read = std::optional<Shape> (*)(const CellAt&);

std::optional<Shape> gemm(const CellAt& at) {
  const Format* weights = format(at, "dtype");
  if (!weights) return std::nullopt;
  return GemmShape{count(at, "m"), count(at, "n"), count(at, "k"), weights};
}

std::optional<Shape> decode(const CellAt& at) {
  const Format* cache = format(at, "kv_dtype");
  const std::int64_t width = count(at, "head_dim");
  if (!cache || width > kWidestHead) return std::nullopt;
  return DecodeAttentionShape{count(at, "batch"),
                              count(at, "heads"),
                              count(at, "kv_heads"),
                              width,
                              width,
                              count(at, "kv_len"),
                              cache,
                              cache};
}

std::optional<Shape> prefill(const CellAt& at) {
  const Format* cache = format(at, "kv_dtype");
  const std::int64_t width = count(at, "head_dim");
  if (!cache || width > kWidestHead) return std::nullopt;
  return PrefillAttentionShape{count(at, "batch"),
                               count(at, "heads"),
                               count(at, "kv_heads"),
                               width,
                               width,
                               count(at, "q_len"),
                               count(at, "past_len", 0),
                               cache};
}

std::optional<Shape> latent(const CellAt& at) {
  const Format* cache = format(at, "kv_dtype");
  if (!cache) return std::nullopt;
  LatentDecodeShape shape;
  shape.batch = count(at, "batch");
  shape.heads = count(at, "heads");
  shape.context = count(at, "kv_len");
  shape.latent_format = shape.rope_format = cache;
  return shape;
}

std::optional<Shape> moe(const CellAt& at) {
  const Format* weights = format(at, "dtype");
  if (!weights) return std::nullopt;
  return MoeShape{count(at, "tokens"),  count(at, "hidden"), count(at, "inter"), count(at, "topk"),
                  count(at, "experts"), count(at, "tp"),     count(at, "ep"),    weights};
}

std::optional<Shape> recurrence(const CellAt& at) {
  const auto kind = recurrence_named(text(at, "recurrence"));
  const Format* state = format(at, "state_dtype");
  if (!kind || !state) return std::nullopt;
  const std::int64_t least = *kind == Recurrent::short_conv ? 0 : 1;  // heads, or channels
  return RecurrenceShape{*kind,
                         count(at, "batch"),
                         count(at, "tokens"),
                         count(at, "k_heads", 0),
                         count(at, "v_heads", least),
                         count(at, "k_width", least),
                         count(at, "v_width", least),
                         count(at, "channels", 1 - least),
                         count(at, "taps", 1 - least),
                         state};
}

std::optional<Shape> sparse_latent(const CellAt& at) {
  const Format* weights = format(at, "dtype");
  const CacheFormats cache = cache_formats(text(at, "kv_dtype"));
  if (!weights) return std::nullopt;
  SparseLatentShape shape;
  shape.batch = count(at, "batch");
  shape.heads = count(at, "heads");
  shape.queries = count(at, "q_len");
  shape.past = count(at, "past_len", 0);
  shape.chosen = count(at, "chosen");
  shape.index_heads = count(at, "index_heads", 0);
  shape.parameters = count(at, "parameters");
  shape.weights = weights;
  shape.latent_format = cache.latent, shape.rope_format = cache.rope;
  shape.index_format = cache.index;
  return shape;
}

std::optional<Shape> collective(const CellAt& at) {
  const auto kind = kind_named(text(at, "op"));
  if (!kind || count(at, "n_gpus") < 2) return std::nullopt;
  return CollectiveShape{*kind, count(at, "n_gpus"), Bytes(count(at, "bytes"))};
}

// In this order: a table of more columns before one whose columns it contains.
struct Kind {
  std::array<std::string_view, 10> columns;
  Read read;
};
constexpr std::array kKinds = {
    Kind{{"m", "n", "k", "dtype"}, gemm},
    Kind{{"heads", "kv_heads", "head_dim", "kv_dtype", "batch", "q_len", "past_len"}, prefill},
    Kind{{"heads", "kv_heads", "head_dim", "kv_dtype", "batch", "kv_len"}, decode},
    Kind{{"heads", "kv_dtype", "batch", "kv_len"}, latent},
    Kind{{"dtype", "tokens", "hidden", "inter", "topk", "experts", "tp", "ep"}, moe},
    Kind{{"recurrence", "state_dtype", "batch", "tokens", "k_heads", "v_heads", "k_width",
          "v_width", "channels", "taps"},
         recurrence},
    Kind{{"parameters", "dtype", "kv_dtype", "heads", "index_heads", "chosen", "batch", "q_len",
          "past_len"},
         sparse_latent},
    Kind{{"op", "n_gpus", "bytes"}, collective},
};

const Kind* kind_of(const CellAt& at) {
  for (const Kind& kind : kKinds)
    if (std::all_of(kind.columns.begin(), kind.columns.end(),
                    [&](std::string_view c) { return c.empty() || at(c); }))
      return &kind;
  return nullptr;
}

struct CellsOf {
  Cells operator()(const GemmShape& s) const {
    return {{"m", n(s.m)}, {"n", n(s.n)}, {"k", n(s.k)}, {"dtype", name(s.weights)}};
  }
  Cells operator()(const DecodeAttentionShape& s) const {
    return {{"heads", n(s.heads)},     {"kv_heads", n(s.kv_heads)}, {"head_dim", n(s.k_width)},
            {"kv_dtype", name(s.key)}, {"batch", n(s.batch)},       {"kv_len", n(s.context)}};
  }
  Cells operator()(const PrefillAttentionShape& s) const {
    return {{"heads", n(s.heads)},       {"kv_heads", n(s.kv_heads)}, {"head_dim", n(s.k_width)},
            {"kv_dtype", name(s.cache)}, {"batch", n(s.batch)},       {"q_len", n(s.queries)},
            {"past_len", n(s.past)}};
  }
  Cells operator()(const LatentDecodeShape& s) const {
    return {{"heads", n(s.heads)},
            {"kv_dtype", name(s.latent_format)},
            {"batch", n(s.batch)},
            {"kv_len", n(s.context)}};
  }
  Cells operator()(const MoeShape& s) const {
    return {{"dtype", name(s.weights)},   {"tokens", n(s.tokens)},     {"hidden", n(s.hidden)},
            {"inter", n(s.inner)},        {"topk", n(s.chosen)},       {"experts", n(s.experts)},
            {"tp", n(s.tensor_parallel)}, {"ep", n(s.expert_parallel)}};
  }
  Cells operator()(const RecurrenceShape& s) const {
    return {{"recurrence", std::string(name_of(s.kind))},
            {"state_dtype", name(s.state)},
            {"batch", n(s.batch)},
            {"tokens", n(s.tokens)},
            {"k_heads", n(s.k_heads)},
            {"v_heads", n(s.v_heads)},
            {"k_width", n(s.k_width)},
            {"v_width", n(s.v_width)},
            {"channels", n(s.channels)},
            {"taps", n(s.taps)}};
  }
  Cells operator()(const SparseLatentShape& s) const {
    return {{"parameters", n(s.parameters)},
            {"dtype", name(s.weights)},
            {"kv_dtype", s.rope_format == s.latent_format ? name(s.latent_format) : "fp8_ds_mla"},
            {"heads", n(s.heads)},
            {"index_heads", n(s.index_heads)},
            {"chosen", n(s.chosen)},
            {"batch", n(s.batch)},
            {"q_len", n(s.queries)},
            {"past_len", n(s.past)}};
  }
  Cells operator()(const CollectiveShape& s) const {
    return {{"op", std::string(name_of(s.kind))}, {"n_gpus", n(s.ranks)}, {"bytes", n(s.bytes.n)}};
  }

  static std::string n(std::int64_t value) { return std::to_string(value); }
  static std::string name(const Format* format) { return std::string(format->name); }
};

// Throws Error where the shape's bytes do not fit in 64 bits.
void require_sane(const Shape& shape) {
  std::visit(
      [](const auto& s) {
        if constexpr (requires { work_of(s); }) (void)work_of(s);
        if constexpr (requires { s.kv_heads; })
          if (s.heads % s.kv_heads != 0)
            throw Error("the KV heads do not divide the heads").of("kv_heads");
        if constexpr (requires { s.experts; }) {
          (void)stored_bytes(*s.weights, checked_mul(s.inner, 3), s.hidden);
          if (s.expert_parallel > s.experts)
            throw Error("more ranks than there are experts").of("ep");
          if (s.chosen > s.experts) throw Error("more experts chosen than there are").of("topk");
        }
      },
      shape);
}

}  // namespace

Cells cells_of(const Shape& shape) { return std::visit(CellsOf{}, shape); }

bool describes_shape(const CellAt& at) { return kind_of(at) != nullptr; }

std::vector<std::string_view> missing_columns(const CellAt& at) {
  std::vector<std::string_view> fewest;
  double best = 0;
  for (const Kind& kind : kKinds) {
    std::vector<std::string_view> missing;
    double all = 0;
    for (const std::string_view column : kind.columns) {
      if (column.empty()) continue;
      ++all;
      if (!at(column)) missing.push_back(column);
    }
    const double share = 1 - static_cast<double>(missing.size()) / all;
    if (share <= best) continue;
    best = share;
    fewest = std::move(missing);
  }
  return best >= 0.5 ? fewest : std::vector<std::string_view>{};
}

std::string left_out_for(const CellAt& at) {
  for (const std::string_view column :
       {"dtype", "kv_dtype", "state_dtype", "recurrence", "op", "head_dim", "n_gpus"}) {
    const std::string* cell = at(column);
    if (!cell) continue;
    std::string named = std::string(column) + " " + cell->substr(0, 40);
    if (column.ends_with("dtype") && !format(at, column)) return named;
    if (column == "recurrence" && !recurrence_named(*cell)) return named;
    if (column == "op" && !kind_named(*cell)) return named;
    if (column == "head_dim" && count(at, column) > kWidestHead) return named;
    if (column == "n_gpus" && count(at, column) < 2) return named;
  }
  return "another kind";
}

std::optional<Shape> shape_from(const CellAt& at) {
  const Kind* kind = kind_of(at);
  if (!kind)
    throw Error("these columns belong to no operator")
        .advise("reports/METHOD.md lists the columns of each.");
  auto shape = kind->read(at);
  if (shape) require_sane(*shape);
  return shape;
}

}  // namespace kvplan
