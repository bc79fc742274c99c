// SPDX-License-Identifier: Apache-2.0
// Writes GGUF files for tests from the format's own description (ggml's docs/gguf.md), sharing
// nothing with the reader.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan::testing {

class GgufWriter {
 public:
  explicit GgufWriter(std::uint32_t version = 3, bool big_endian = false)
      : version_(version), big_(big_endian) {}

  GgufWriter& u32(std::string_view key, std::uint32_t value) {
    return start(key, 4), put(keys_, value), *this;
  }
  GgufWriter& u64(std::string_view key, std::uint64_t value) {
    return start(key, 10), put(keys_, value), *this;
  }
  GgufWriter& u16(std::string_view key, std::uint16_t value) {
    return start(key, 2), put(keys_, value), *this;
  }
  GgufWriter& i32(std::string_view key, std::int32_t value) {
    return start(key, 5), put(keys_, value), *this;
  }
  GgufWriter& f32(std::string_view key, float value) {
    return start(key, 6), put(keys_, value), *this;
  }
  GgufWriter& boolean(std::string_view key, bool value) {
    return start(key, 7), put(keys_, std::uint8_t{value}), *this;
  }
  GgufWriter& text(std::string_view key, std::string_view value) {
    return start(key, 8), put_text(keys_, value), *this;
  }
  GgufWriter& i32s(std::string_view key, const std::vector<std::int32_t>& values) {
    start_array(key, 5, values.size());
    for (const auto value : values) put(keys_, value);
    return *this;
  }
  GgufWriter& booleans(std::string_view key, const std::vector<int>& values) {
    start_array(key, 7, values.size());
    for (const auto value : values) put(keys_, static_cast<std::uint8_t>(value));
    return *this;
  }
  GgufWriter& texts(std::string_view key, std::size_t count, std::string_view value) {
    start_array(key, 8, count);
    for (std::size_t i = 0; i < count; ++i) put_text(keys_, value);
    return *this;
  }
  GgufWriter& raw(std::string_view key, std::uint32_t type, std::string_view bytes) {
    return start(key, type), keys_.append(bytes), *this;
  }

  // `sizes` in the file's order: the contiguous dimension first. `bytes` as ggml would store them.
  GgufWriter& tensor(std::string_view name, const std::vector<std::uint64_t>& sizes,
                     std::uint32_t type, std::uint64_t bytes) {
    return tensor_at(name, sizes, type, bytes, (data_ + 31) / 32 * 32);
  }
  GgufWriter& tensor_at(std::string_view name, const std::vector<std::uint64_t>& sizes,
                        std::uint32_t type, std::uint64_t bytes, std::uint64_t offset) {
    put_text(table_, name);
    put(table_, static_cast<std::uint32_t>(sizes.size()));
    for (const auto size : sizes) put(table_, size);
    put(table_, type);
    put(table_, offset);
    ++tensors_;
    if (offset < kMostData) data_ = std::max(data_, offset + bytes);
    return *this;
  }

  std::string head() const {
    std::string out = "GGUF";
    put(out, version_);
    put(out, tensors_);
    put(out, key_count_);
    out += keys_ + table_;
    out.resize((out.size() + 31) / 32 * 32);
    return out;
  }
  std::uint64_t data_bytes() const { return data_; }
  // The whole file, tensor data as zeros.
  std::string file() const {
    std::string out = head();
    out.resize(out.size() + data_);
    return out;
  }

 private:
  static constexpr std::uint64_t kMostData = std::uint64_t{1} << 40;

  template <class T>
  void put(std::string& out, T value) const {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (big_) std::reverse(raw, raw + sizeof(T));
    out.append(raw, sizeof(T));
  }
  void put_text(std::string& out, std::string_view value) const {
    put(out, std::uint64_t{value.size()});
    out.append(value);
  }
  void start(std::string_view key, std::uint32_t type) {
    put_text(keys_, key);
    put(keys_, type);
    ++key_count_;
  }
  void start_array(std::string_view key, std::uint32_t type, std::size_t count) {
    start(key, 9);
    put(keys_, type);
    put(keys_, std::uint64_t{count});
  }

  std::uint32_t version_;
  bool big_;
  std::string keys_, table_;
  std::uint64_t key_count_ = 0, tensors_ = 0, data_ = 0;
};

}  // namespace kvplan::testing
