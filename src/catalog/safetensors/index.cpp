// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors/index.h"

#include "catalog/json.h"
#include "error.h"

namespace kvplan::safetensors {
namespace {

constexpr std::size_t kMostTensors = 1'000'000;
constexpr std::size_t kMostFiles = 10'000;
constexpr int kMostDepth = 16;

// {"metadata": {"total_size": 1}, "weight_map": {"name": "file"}}
class Visitor : public JsonVisitor {
 public:
  Index index;
  bool has_map = false;

  void open(bool is_object) override {
    if (++depth_ > kMostDepth || (depth_ == 1 && !is_object)) throw unexpected();
    if (depth_ == 2 && top_ == "weight_map") {
      if (!is_object || has_map) throw unexpected();
      has_map = true;
    }
  }
  void close() override { --depth_; }
  void key(std::string&& name) override { (depth_ == 1 ? top_ : key_) = std::move(name); }
  void text(std::string&& value) override {
    if (depth_ == 2 && top_ == "weight_map") place(std::move(value));
  }
  void integer(std::uint64_t value) override {
    if (depth_ == 2 && top_ == "metadata" && key_ == "total_size") index.total_bytes = value;
    if (top_ == "weight_map") throw unexpected();
  }
  void other() override {
    if (top_ == "weight_map") throw unexpected();
  }

 private:
  Error unexpected() const {
    return Error("this is not the index of a checkpoint").of(key_.empty() ? "weight_map" : key_);
  }
  void place(std::string file) {
    if (file.empty() || file.front() == '.' || file.find_first_of("/\\") != file.npos)
      throw Error("'" + file + "' is not the name of a file beside the index").of(key_);
    if (index.tensors.size() >= kMostTensors) throw Error("more than 1,000,000 tensors");
    if (index.files.empty() || index.files[last_] != file) {
      const auto [known, fresh] = numbers_.try_emplace(file, index.files.size());
      if (fresh) index.files.push_back(std::move(file));
      if (index.files.size() > kMostFiles) throw Error("more than 10,000 files");
      last_ = known->second;
    }
    if (!index.tensors.emplace(key_, last_).second)
      throw Error("tensor '" + key_ + "' stands twice").of(key_);
  }

  int depth_ = 0;
  std::string top_, key_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::size_t last_ = 0;
};

}  // namespace

Index parse_index(std::string_view text) {
  Visitor visitor;
  visit_json(text, visitor);
  if (!visitor.has_map) throw Error("the index has no weight_map").of("weight_map");
  return std::move(visitor.index);
}

}  // namespace kvplan::safetensors
