// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf/values.h"

namespace kvplan {
namespace {

constexpr std::uint64_t kMostText = 4096;  // chat templates are longer

template <class T>
Node next(ByteReader& in) {
  Node node = word(std::to_string(in.number<T>()));
  node.quoted = false;
  return node;
}

Error unknown_type(GgufType type, std::uint64_t offset) {
  return Error("unknown value type " + std::to_string(static_cast<std::uint32_t>(type)))
      .at_offset(static_cast<std::int64_t>(offset))
      .advise("The file is damaged.");
}

}  // namespace

std::uint64_t least_bytes(GgufType type, std::uint64_t offset) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
      return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
    case GgufType::text:
    case GgufType::array:
      return 8;
  }
  throw unknown_type(type, offset);
}

Node read_number(ByteReader& in, GgufType type) {
  switch (type) {
    case GgufType::u8:
      return next<std::uint8_t>(in);
    case GgufType::i8:
      return next<std::int8_t>(in);
    case GgufType::u16:
      return next<std::uint16_t>(in);
    case GgufType::i16:
      return next<std::int16_t>(in);
    case GgufType::u32:
      return next<std::uint32_t>(in);
    case GgufType::i32:
      return next<std::int32_t>(in);
    case GgufType::u64:
      return next<std::uint64_t>(in);
    case GgufType::i64:
      return next<std::int64_t>(in);
    case GgufType::f32:
      return next<float>(in);
    case GgufType::f64:
      return next<double>(in);
    case GgufType::boolean:
      return flag(in.number<std::uint8_t>() != 0);
    case GgufType::text:
    case GgufType::array:
      break;
  }
  throw unknown_type(type, in.offset());
}

std::optional<Node> read_text(ByteReader& in) {
  auto text = in.text(kMostText);
  if (!text) return std::nullopt;
  return word(*text);
}

}  // namespace kvplan
