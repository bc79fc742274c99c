// SPDX-License-Identifier: Apache-2.0
// The one error type: where it is, what is wrong, what to do. Thrown where found, printed once, in
// main.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace kvplan {

struct Error : std::runtime_error {
  explicit Error(const std::string& what) : std::runtime_error(what) {}

  // Fluent, so that the innermost code says what it knows and outer code adds the rest.
  // A value that is already set stays: the place nearest to the fault knows it best.
  Error& in(const std::string& path) { return set(file, path); }
  Error& at_line(int number) { return line = line ? line : number, *this; }
  Error& at_offset(std::int64_t bytes) { return offset = offset < 0 ? bytes : offset, *this; }
  Error& of(const std::string& name) { return set(key, name); }
  Error& advise(const std::string& text) { return set(advice, text); }

  std::string file;          // as the user named it; empty when no file is at fault
  int line = 0;              // 1-based; 0 when unknown
  std::int64_t offset = -1;  // byte offset in a binary file; -1 when unknown
  std::string key;           // configuration key, flag or tensor
  std::string advice;        // what to do, a whole sentence

 private:
  Error& set(std::string& field, const std::string& text) {
    if (field.empty()) field = text;
    return *this;
  }
};

// A remark on the answer that is not a refusal. `code` is stable and kebab-case: scripts match it.
struct Warning {
  std::string code;
  std::string message;
};

}  // namespace kvplan
