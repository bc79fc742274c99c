// SPDX-License-Identifier: Apache-2.0
// Reads the head of a binary file through one small buffer. Every length is checked against the
// file before it is believed, so a hostile file costs an error with its offset and nothing else.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "error.h"

namespace kvplan {

class ByteReader {
 public:
  explicit ByteReader(std::istream&);

  std::uint64_t size() const { return size_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t left() const { return size_ - offset_; }
  void set_big_endian(bool big) { swap_ = big; }  // the host is little-endian

  template <class T>
  T number() {
    std::array<char, sizeof(T)> raw;
    copy(raw.data(), raw.size());
    if (swap_) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
  }
  // A length in 64 bits, then as many bytes; nothing where they are more than `most`: they are
  // passed over then.
  std::optional<std::string> text(std::uint64_t most);
  void skip(std::uint64_t bytes);

 private:
  void need(std::uint64_t bytes) const;
  void copy(char* to, std::size_t bytes);
  void fill();

  static constexpr std::size_t kBuffer = std::size_t{64} << 10;

  std::istream& in_;
  std::uint64_t size_ = 0, offset_ = 0;
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  bool swap_ = false;
};

}  // namespace kvplan
