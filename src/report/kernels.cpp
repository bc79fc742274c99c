// SPDX-License-Identifier: Apache-2.0
#include "report/kernels.h"

#include <fmt/format.h>

#include "report/numbers.h"

namespace kvplan {
namespace {

std::string n(std::int64_t count) { return shown(value(count)); }

struct Size {
  std::string operator()(const GemmShape& s) const {
    return fmt::format("{} rows, {} -> {}", n(s.m), n(s.k), n(s.n));
  }
  std::string operator()(const DecodeAttentionShape& s) const {
    return fmt::format("{} x {} tokens, {} heads over {}", n(s.batch), n(s.context), n(s.heads),
                       n(s.kv_heads));
  }
  std::string operator()(const PrefillAttentionShape& s) const {
    return fmt::format("{} x {} tokens, {} heads over {}", n(s.batch), n(s.past + s.queries),
                       n(s.heads), n(s.kv_heads));
  }
  std::string operator()(const LatentDecodeShape& s) const {
    return fmt::format("{} x {} tokens, {} heads", n(s.batch), n(s.context), n(s.heads));
  }
  std::string operator()(const MoeShape& s) const {
    return fmt::format("{} tokens, {} of {} experts", n(s.tokens), n(s.chosen), n(s.experts));
  }
  std::string operator()(const RecurrenceShape& s) const {
    return s.kind == Recurrent::short_conv
               ? fmt::format("{} x {} tokens, {} channels", n(s.batch), n(s.tokens), n(s.channels))
               : fmt::format("{} x {} tokens, {} heads of {}", n(s.batch), n(s.tokens),
                             n(s.v_heads), name_of(s.kind));
  }
  std::string operator()(const SparseLatentShape& s) const {
    return fmt::format("{} x {} tokens, {} heads, at most {}", n(s.batch), n(s.past + s.queries),
                       n(s.heads), n(s.chosen));
  }
  std::string operator()(const CollectiveShape& s) const {
    return fmt::format("{} of {} over {} GPUs", name_of(s.kind), shown(value(s.bytes)), n(s.ranks));
  }
};

struct Stored {
  const Format* operator()(const GemmShape& s) const { return s.weights; }
  const Format* operator()(const DecodeAttentionShape& s) const { return s.key; }
  const Format* operator()(const PrefillAttentionShape& s) const { return s.cache; }
  const Format* operator()(const LatentDecodeShape& s) const { return s.latent_format; }
  const Format* operator()(const MoeShape& s) const { return s.weights; }
  const Format* operator()(const RecurrenceShape& s) const { return s.state; }
  const Format* operator()(const SparseLatentShape& s) const { return s.weights; }
  const Format* operator()(const CollectiveShape&) const { return nullptr; }
};

}  // namespace

std::string size_of(const Shape& shape) { return std::visit(Size{}, shape); }

std::optional<std::string> format_of(const Shape& shape) {
  const Format* format = std::visit(Stored{}, shape);
  return format ? std::optional(std::string(format->name)) : std::nullopt;
}

}  // namespace kvplan
