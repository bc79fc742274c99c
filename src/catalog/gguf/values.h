// SPDX-License-Identifier: Apache-2.0
// GGUF metadata values as nodes (enum gguf_type in ggml's gguf.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "catalog/gguf/bytes.h"
#include "catalog/node.h"

namespace kvplan {

enum class GgufType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  text,
  array,
  u64,
  i64,
  f64
};

// Bytes of one value of this type; of a text or an array its length only. Error when unknown.
std::uint64_t least_bytes(GgufType, std::uint64_t offset);
// The next value of a type that is a number or true or false.
Node read_number(ByteReader&, GgufType);
// The next text, or nothing where it is long: it is passed over then.
std::optional<Node> read_text(ByteReader&);

}  // namespace kvplan
