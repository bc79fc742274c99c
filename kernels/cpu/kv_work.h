// SPDX-License-Identifier: Apache-2.0
// Decode attention cut into equal shares of tokens: which thread reads which tokens of which
// (sequence, KV head), where they lie, and the partial results that are merged at the end.
#pragma once
#include <vector>

#include "kernels/cpu/arena.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/team.h"
#include "kernels/reference.h"

namespace kvplan {

// What is stored of a token of one KV head.
struct KvEntry {
  const Format* key;
  const Format* value;
  std::int64_t key_width, value_width;
  bool shared = false;  // the value is the first part of the key (MLA)

  std::int64_t key_bytes() const { return payload_bytes(*key, 1, key_width).n; }
  std::int64_t value_bytes() const { return shared ? 0 : payload_bytes(*value, 1, value_width).n; }
  // Keys, values and their scales of so many tokens, each part on a line of its own.
  std::int64_t bytes(std::int64_t tokens) const;
  KvRows rows_at(const std::byte* from, std::int64_t tokens) const;
  RowReader key_reader(const KvRows&) const;
  RowReader value_reader(const KvRows&) const;
};

struct Fragment {
  std::int64_t pair, first, tokens;  // tokens [first, first + tokens) of a (sequence, KV head)
  std::int64_t offset;               // bytes from the start of the thread's slot
};

// Fragments of each thread: equal numbers of whole tiles, in order of pairs and tokens.
std::vector<std::vector<Fragment>> share_out(const KvEntry&, std::int64_t pairs,
                                             std::int64_t tokens, int threads);
// Bytes of the thread that has most.
Bytes most_bytes(const KvEntry&, const std::vector<std::vector<Fragment>>&);

}  // namespace kvplan
