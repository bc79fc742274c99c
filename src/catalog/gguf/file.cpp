// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf/file.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "catalog/gguf/bytes.h"
#include "catalog/gguf/types.h"
#include "catalog/gguf/values.h"

namespace kvplan {
namespace {

// Published files have fewer than 100 keys, 3,000 tensors, 400,000 tokens and merges.
constexpr std::uint64_t kMostKeys = 10'000;
constexpr std::uint64_t kMostTensors = 100'000;
constexpr std::uint64_t kMostTexts = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostName = 1024;
constexpr std::uint64_t kMostItems = 10'000;  // of a kept array: one a layer
constexpr std::uint64_t kMostKept = 200'000;  // of all kept arrays together
constexpr std::uint32_t kMostDimensions = 4;  // GGML_MAX_DIMS
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;
constexpr std::int64_t kMostAlignment = std::int64_t{1} << 20;

Error at(std::uint64_t offset, const std::string& what) {
  return Error(what).at_offset(static_cast<std::int64_t>(offset)).advise("The file is damaged.");
}

class Parser {
 public:
  explicit Parser(std::istream& stream) : in_(stream) {}

  GgufFile parse() {
    read_start();
    file_.metadata.kind = Node::map;
    for (std::uint64_t i = 0; i < keys_; ++i) read_key();
    for (std::uint64_t i = 0; i < tensors_; ++i) read_tensor();
    check_extents();
    return std::move(file_);
  }

 private:
  void read_start();
  std::uint64_t count(const char* what, std::uint64_t most, std::uint64_t least);
  std::string name(const char* what);
  void read_key();
  void read_array(const std::string& key);
  void read_alignment(GgufType type);
  void keep(const std::string& key, Node value) {
    file_.metadata.members.emplace_back(key, std::move(value));
  }
  void read_tensor();
  void read_shape(Tensor& tensor, std::uint64_t start);
  void check_extents() const;

  struct Extent {
    std::uint64_t offset, bytes;  // in the data section
    std::uint64_t entry;          // where the table says so
    std::size_t tensor;
  };

  ByteReader in_;
  GgufFile file_;
  std::uint64_t tensors_ = 0, keys_ = 0, texts_ = 0, items_ = 0, alignment_ = 32;
  std::unordered_set<std::string> seen_;
  std::vector<Extent> extents_;
};

void Parser::read_start() {
  if (in_.size() < 4 || in_.number<std::uint32_t>() != 0x46554747)  // "GGUF"
    throw at(0, "this is not a GGUF file: it does not begin with 'GGUF'");
  auto version = in_.number<std::uint32_t>();
  if ((version & 0xFFFF) == 0) {  // a small number with its bytes at the other end
    file_.big_endian = true;
    in_.set_big_endian(true);
    version = __builtin_bswap32(version);
  }
  if (version == 1)
    throw Error("GGUF version 1 is read no more, by llama.cpp neither")
        .at_offset(4)
        .advise("Fetch or convert the model again: files since October 2023 are newer.");
  if (version != 2 && version != 3)
    throw at(4, "GGUF version " + std::to_string(version) + " is not known; 2 and 3 are");
  file_.version = version;
  tensors_ = count("tensors", kMostTensors, 32);  // name, dimensions, one size, type, offset
  keys_ = count("keys", kMostKeys, 13);           // name, type, one byte
  file_.tensors.reserve(static_cast<std::size_t>(tensors_));
}

// Each of them takes at least `least` bytes of the file.
std::uint64_t Parser::count(const char* what, std::uint64_t most, std::uint64_t least) {
  const std::uint64_t offset = in_.offset();
  const auto n = in_.number<std::uint64_t>();
  if (n > most || n > in_.left() / least)
    throw at(offset, "the file claims " + std::to_string(n) + " " + what);
  return n;
}

std::string Parser::name(const char* what) {
  const std::uint64_t offset = in_.offset();
  auto text = in_.text(kMostName);
  if (!text || text->empty()) throw at(offset, std::string("a ") + what + " without a usable name");
  return std::move(*text);
}

void Parser::read_key() {
  const std::uint64_t offset = in_.offset();
  const std::string key = name("key");
  if (!seen_.insert(key).second) throw at(offset, "key '" + key + "' stands twice").of(key);
  const auto type = GgufType{in_.number<std::uint32_t>()};
  if (type == GgufType::array) return read_array(key);
  if (type == GgufType::text) {
    if (auto value = read_text(in_)) keep(key, std::move(*value));
  } else if (key == "general.alignment") {
    read_alignment(type);
  } else {
    keep(key, read_number(in_, type));
  }
}

void Parser::read_alignment(GgufType type) {
  const std::uint64_t offset = in_.offset();
  const Node value = read_number(in_, type);
  const auto n = type == GgufType::u32 ? value.integer() : std::nullopt;
  if (!n || *n < 1 || *n > kMostAlignment || (*n & (*n - 1)) != 0)
    throw at(offset, "an alignment of '" + value.text + "'").of("general.alignment");
  alignment_ = static_cast<std::uint64_t>(*n);
}

void Parser::read_array(const std::string& key) {
  const std::uint64_t offset = in_.offset();
  const auto type = GgufType{in_.number<std::uint32_t>()};
  if (type == GgufType::array) throw at(offset, "an array of arrays").of(key);
  const std::uint64_t each = least_bytes(type, offset);
  const auto length = in_.number<std::uint64_t>();
  const bool texts = type == GgufType::text;
  const bool kept = !texts && length <= kMostItems && !key.starts_with("tokenizer.");
  if (length > in_.left() / each || (texts && (texts_ += length) > kMostTexts) ||
      (kept && (items_ += length) > kMostKept))
    throw at(offset, "the file claims an array of " + std::to_string(length) + " values").of(key);
  if (key == "tokenizer.ggml.tokens") file_.vocabulary = static_cast<std::int64_t>(length);
  if (texts) {
    for (std::uint64_t i = 0; i < length; ++i) in_.text(0);
  } else if (!kept) {
    in_.skip(length * each);
  } else {
    Node list;
    list.kind = Node::list;
    for (std::uint64_t i = 0; i < length; ++i) list.items.push_back(read_number(in_, type));
    keep(key, std::move(list));
  }
}

void Parser::read_tensor() {
  const std::uint64_t start = in_.offset();
  Tensor tensor;
  tensor.name = name("tensor");
  read_shape(tensor, start);
  const auto fail = [&](const std::string& what) { return at(start, what).of(tensor.name); };
  const auto type = in_.number<std::uint32_t>();
  tensor.format = ggml_format(type);
  if (!tensor.format) throw fail("tensor type " + std::to_string(type) + " is not known");
  const std::int64_t columns = tensor.shape.back();
  if (columns % tensor.format->block_elements != 0)
    throw fail("rows of " + std::to_string(columns) + " numbers do not fill blocks of " +
               std::to_string(tensor.format->block_elements));
  tensor.bytes = payload_bytes(*tensor.format, tensor.stored_elements / columns, columns);
  extents_.push_back({in_.number<std::uint64_t>(), static_cast<std::uint64_t>(tensor.bytes.n),
                      start, file_.tensors.size()});
  file_.tensors.push_back(std::move(tensor));
}

// The file begins with the contiguous dimension, a Tensor's shape ends with it.
void Parser::read_shape(Tensor& tensor, std::uint64_t start) {
  const auto fail = [&](const std::string& what) { return at(start, what).of(tensor.name); };
  const auto dimensions = in_.number<std::uint32_t>();
  if (dimensions == 0 || dimensions > kMostDimensions)
    throw fail("a tensor of " + std::to_string(dimensions) + " dimensions");
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto size = in_.number<std::uint64_t>();
    if (size == 0 || size > kMostElements / elements)
      throw fail("a tensor dimension of " + std::to_string(size));
    elements *= size;
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(size));
  }
  tensor.stored_elements = static_cast<std::int64_t>(elements);
}

// Names stand once; data lie inside the file, aligned, and do not overlap.
void Parser::check_extents() const {
  const std::uint64_t data = (in_.offset() + alignment_ - 1) / alignment_ * alignment_;
  const std::uint64_t room = in_.size() > data ? in_.size() - data : 0;
  std::vector<Extent> sorted = extents_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::unordered_set<std::string_view> names;
  std::uint64_t end = 0;
  for (const Extent& e : sorted) {
    const std::string& name = file_.tensors[e.tensor].name;
    const auto fail = [&](const std::string& what) { return at(e.entry, what).of(name); };
    if (!names.insert(name).second) throw fail("tensor '" + name + "' stands twice");
    if (e.offset % alignment_ != 0) throw fail("a tensor's data do not start at the alignment");
    if (e.offset < end) throw fail("a tensor's data overlap another's");
    if (e.offset > room || e.bytes > room - e.offset)
      throw fail("a tensor's data reach beyond the end of the file; is its download complete?");
    end = e.offset + e.bytes;
  }
}

}  // namespace

GgufFile parse_gguf(std::istream& in) { return Parser(in).parse(); }

}  // namespace kvplan
