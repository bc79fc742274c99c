// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/header.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "catalog/json.h"
#include "error.h"

namespace kvplan::safetensors {
namespace {

constexpr std::size_t kLengthBytes = 8;             // of the header, before it
constexpr std::uint64_t kMostHeader = 100'000'000;  // the reference implementation's own bound
constexpr std::size_t kMostTensors = 1'000'000;
constexpr std::size_t kMostDimensions = 8;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

constexpr DType kTypes[] = {
    {"F64", 64, "fp64"},   {"F32", 32, "fp32"},        {"F16", 16, "fp16"},   {"BF16", 16, "bf16"},
    {"F8_E4M3", 8, "fp8"}, {"F8_E5M2", 8, "fp8-e5m2"}, {"F8_E8M0", 8, "fp8"}, {"F6_E2M3", 6, "fp6"},
    {"F6_E3M2", 6, "fp6"}, {"F4", 4, "fp4"},           {"I64", 64, "int64"},  {"U64", 64, "int64"},
    {"I32", 32, "int32"},  {"U32", 32, "int32"},       {"I16", 16, "int16"},  {"U16", 16, "int16"},
    {"I8", 8, "int8"},     {"U8", 8, "int8"},          {"BOOL", 8, "int8"},   {"C64", 64, "fp64"},
};

Error broken(const std::string& what) { return Error(what).advise("The file is damaged."); }

// {"name": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [0, 4]}, "__metadata__": {…}}
class Visitor : public JsonVisitor {
 public:
  struct Entry {
    StoredTensor tensor;
    std::vector<std::uint64_t> offsets;
    std::size_t place = 0;  // of its description in the header
    bool has_shape = false;
  };
  std::vector<Entry> entries;

  void open(bool is_object) override {
    if (++depth_ > 3 || is_object == (depth_ == 3)) throw unexpected();
    if (depth_ == 2 && !in_metadata_) start_tensor();
    if (depth_ == 3) start_list();
  }
  void close() override {
    if (depth_ == 2 && !in_metadata_) finish_tensor();
    if (depth_ == 2) in_metadata_ = false;
    if (depth_ == 3) list_ = nullptr;
    --depth_;
  }
  void key(std::string&& name) override {
    if (depth_ == 1) {
      in_metadata_ = name == "__metadata__";
      name_ = std::move(name);
    } else if (!in_metadata_) {
      field_ = std::move(name);
    }
  }
  void text(std::string&& value) override {
    if (depth_ == 2 && in_metadata_) return;
    if (depth_ != 2 || field_ != "dtype" || entries.back().tensor.dtype) throw unexpected();
    const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const DType& t) { return t.name == value; });
    if (type == std::end(kTypes))
      throw broken("data type '" + value + "' is not known to kv-plan").of(name_);
    entries.back().tensor.dtype = type;
  }
  void integer(std::uint64_t value) override {
    if (!list_) throw unexpected();
    if (list_->size() >= kMostDimensions) throw broken("too many dimensions").of(name_);
    list_->push_back(value);
  }
  void other() override { throw unexpected(); }

 private:
  Error unexpected() const {
    return broken("the header is not one of a safetensors file").of(name_);
  }
  void start_tensor() {
    if (entries.size() >= kMostTensors) throw broken("more than 1,000,000 tensors");
    entries.emplace_back().tensor.name = name_;
    entries.back().place = offset;
    field_.clear();
    shape_.clear();
  }
  void start_list() {
    if (in_metadata_) throw unexpected();
    Entry& entry = entries.back();
    if (field_ == "shape" && !entry.has_shape) {
      entry.has_shape = true;
      list_ = &shape_;
    } else if (field_ == "data_offsets" && entry.offsets.empty()) {
      list_ = &entry.offsets;
    } else {
      throw unexpected();
    }
  }
  void finish_tensor() {
    Entry& entry = entries.back();
    StoredTensor& t = entry.tensor;
    if (!t.dtype || !entry.has_shape || entry.offsets.size() != 2) throw unexpected();
    std::uint64_t elements = 1;
    for (const std::uint64_t size : shape_) {
      if (size > 0 && elements > kMostElements / size)
        throw broken("a tensor dimension of " + std::to_string(size)).of(name_);
      elements *= size;
      t.shape.push_back(static_cast<std::int64_t>(size));
    }
    t.elements = static_cast<std::int64_t>(elements);
    const std::uint64_t bits = elements * static_cast<std::uint64_t>(t.dtype->bits);
    t.bytes = Bytes(static_cast<std::int64_t>(bits / 8));
    if (bits % 8 != 0) throw broken("a tensor that does not end at a byte").of(name_);
  }

  int depth_ = 0;
  bool in_metadata_ = false;
  std::string name_, field_;
  std::vector<std::uint64_t> shape_;
  std::vector<std::uint64_t>* list_ = nullptr;
};

struct Head {
  std::string json;
  std::uint64_t data = 0;  // bytes of tensor data in the file
};

Head read_head(std::istream& in) {
  in.seekg(0, std::ios::end);
  const auto end = in.tellg();
  in.seekg(0);
  if (!in || end < 0) throw Error("the file cannot be read");
  const auto size = static_cast<std::uint64_t>(end);
  char raw[8] = {};
  if (size < sizeof raw || !in.read(raw, sizeof raw))
    throw broken("the file is too short for a header").at_offset(0);
  std::uint64_t length = 0;
  std::memcpy(&length, raw, sizeof length);
  if (length > kMostHeader || length > size - sizeof raw)
    throw broken("the file claims a header of " + std::to_string(length) + " bytes").at_offset(0);
  Head head{std::string(static_cast<std::size_t>(length), '\0'), size - sizeof raw - length};
  if (!in.read(head.json.data(), static_cast<std::streamsize>(length)))
    throw Error("the file cannot be read").at_offset(sizeof raw);
  return head;
}

// The data section is covered once and wholly.
void check_extents(std::vector<Visitor::Entry>& entries, const Head& head) {
  const auto place_of = [](const Visitor::Entry& entry) {
    return static_cast<std::int64_t>(kLengthBytes + entry.place);
  };
  std::vector<const Visitor::Entry*> sorted;
  std::unordered_set<std::string_view> names;
  for (const auto& entry : entries) {
    sorted.push_back(&entry);
    if (!names.insert(entry.tensor.name).second)
      throw broken("tensor '" + entry.tensor.name + "' stands twice")
          .of(entry.tensor.name)
          .at_offset(place_of(entry));
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->offsets < b->offsets; });
  std::uint64_t end = 0;
  for (const auto* e : sorted) {
    const auto fail = [&](const std::string& what) {
      return broken(what).of(e->tensor.name).at_offset(place_of(*e));
    };
    if (e->offsets[1] < e->offsets[0] ||
        e->offsets[1] - e->offsets[0] != static_cast<std::uint64_t>(e->tensor.bytes.n))
      throw fail("a tensor's offsets do not fit its type and shape");
    if (e->offsets[0] != end)
      throw fail(e->offsets[0] < end ? "a tensor's data overlap another's"
                                     : "a hole before a tensor's data");
    end = e->offsets[1];
    if (end > head.data)
      throw fail("a tensor's data reach beyond the end of the file; is its download complete?");
  }
  if (end != head.data)
    throw broken("data that belong to no tensor")
        .at_offset(static_cast<std::int64_t>(kLengthBytes + head.json.size() + end));
}

}  // namespace

std::vector<StoredTensor> parse_header(std::istream& in) {
  static_assert(std::endian::native == std::endian::little);
  const Head head = read_head(in);
  Visitor visitor;
  try {
    visit_json(head.json, visitor);
  } catch (Error& e) {
    if (e.offset >= 0) e.offset += kLengthBytes;
    throw;
  }
  check_extents(visitor.entries, head);
  std::vector<StoredTensor> tensors;
  tensors.reserve(visitor.entries.size());
  for (auto& entry : visitor.entries) tensors.push_back(std::move(entry.tensor));
  return tensors;
}

}  // namespace kvplan::safetensors
