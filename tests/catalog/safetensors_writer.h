// SPDX-License-Identifier: Apache-2.0
// Writes safetensors headers for tests, sharing nothing with the reader.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan::testing {

class SafetensorsWriter {
 public:
  // `bits` of one element of this dtype.
  SafetensorsWriter& tensor(std::string_view name, std::string_view dtype, int bits,
                            const std::vector<std::int64_t>& shape) {
    std::int64_t elements = 1;
    std::string sizes;
    for (const auto n : shape) {
      elements *= n;
      sizes += (sizes.empty() ? "" : ",") + std::to_string(n);
    }
    const std::uint64_t end = data_ + static_cast<std::uint64_t>(elements * bits / 8);
    json_ += (json_.empty() ? "" : ",") + std::string("\"") + std::string(name) +
             "\":{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":[" + sizes +
             "],\"data_offsets\":[" + std::to_string(data_) + "," + std::to_string(end) + "]}";
    data_ = end;
    return *this;
  }
  SafetensorsWriter& bf16(std::string_view name, const std::vector<std::int64_t>& shape) {
    return tensor(name, "BF16", 16, shape);
  }
  SafetensorsWriter& f16(std::string_view name, const std::vector<std::int64_t>& shape) {
    return tensor(name, "F16", 16, shape);
  }
  SafetensorsWriter& f32(std::string_view name, const std::vector<std::int64_t>& shape) {
    return tensor(name, "F32", 32, shape);
  }
  SafetensorsWriter& f8(std::string_view name, const std::vector<std::int64_t>& shape) {
    return tensor(name, "F8_E4M3", 8, shape);
  }
  SafetensorsWriter& i32(std::string_view name, const std::vector<std::int64_t>& shape) {
    return tensor(name, "I32", 32, shape);
  }
  SafetensorsWriter& u8(std::string_view name, const std::vector<std::int64_t>& shape) {
    return tensor(name, "U8", 8, shape);
  }

  static std::string head_of(const std::string& json) {
    const std::uint64_t length = json.size();
    std::string out(8, '\0');
    std::memcpy(out.data(), &length, 8);
    return out + json;
  }
  std::string head() const { return head_of(all()); }
  std::uint64_t data_bytes() const { return data_; }
  std::string file() const { return head() + std::string(data_, '\0'); }

 private:
  std::string all() const {
    return "{\"__metadata__\":{\"format\":\"pt\"}" + (json_.empty() ? "" : "," + json_) + "}";
  }

  std::string json_;
  std::uint64_t data_ = 0;
};

}  // namespace kvplan::testing
