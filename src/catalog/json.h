// SPDX-License-Identifier: Apache-2.0
// JSON as a run of events, for texts that are too large to become a tree (headers of checkpoints).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvplan {

class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  virtual void open(bool is_object) = 0;
  virtual void close() = 0;
  virtual void key(std::string&& name) = 0;
  virtual void text(std::string&& value) = 0;
  virtual void integer(std::uint64_t value) = 0;
  virtual void other() = 0;  // null, true, false, a negative or real number

  std::size_t offset = 0;  // how much of the text was read before the event
};

// Errors carry the byte offset in `text`, those that the visitor throws too.
void visit_json(std::string_view text, JsonVisitor&);

}  // namespace kvplan
