// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf/bytes.h"

namespace kvplan {

static_assert(std::endian::native == std::endian::little);

ByteReader::ByteReader(std::istream& in) : in_(in), buffer_(kBuffer) {
  in_.seekg(0, std::ios::end);
  const auto end = in_.tellg();
  in_.seekg(0);
  if (!in_ || end < 0) throw Error("the file cannot be read");
  size_ = static_cast<std::uint64_t>(end);
}

std::optional<std::string> ByteReader::text(std::uint64_t most) {
  const auto length = number<std::uint64_t>();
  need(length);
  if (length > most) return skip(length), std::nullopt;
  std::string value(static_cast<std::size_t>(length), '\0');
  copy(value.data(), value.size());
  return value;
}

void ByteReader::skip(std::uint64_t bytes) {
  need(bytes);
  offset_ += bytes;
  if (bytes <= filled_ - at_) {
    at_ += static_cast<std::size_t>(bytes);
    return;
  }
  at_ = filled_ = 0;
  in_.seekg(static_cast<std::streamoff>(offset_));
}

void ByteReader::need(std::uint64_t bytes) const {
  if (bytes > left())
    throw Error("the file ends too early: " + std::to_string(bytes) + " bytes wanted, " +
                std::to_string(left()) + " left")
        .at_offset(static_cast<std::int64_t>(offset_))
        .advise("The file is damaged, or its download is incomplete.");
}

void ByteReader::copy(char* to, std::size_t bytes) {
  need(bytes);
  offset_ += bytes;
  while (bytes > 0) {
    if (at_ == filled_) fill();
    const std::size_t part = std::min(bytes, filled_ - at_);
    std::memcpy(to, buffer_.data() + at_, part);
    at_ += part, to += part, bytes -= part;
  }
}

void ByteReader::fill() {
  in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  filled_ = static_cast<std::size_t>(in_.gcount());
  at_ = 0;
  if (filled_ == 0)
    throw Error("the file cannot be read").at_offset(static_cast<std::int64_t>(offset_));
  in_.clear();
}

}  // namespace kvplan
