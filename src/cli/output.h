// SPDX-License-Identifier: Apache-2.0
// Where an answer goes. A path is opened before the work starts, so that a bad one fails at once; a
// file is replaced whole (written beside, then renamed), so that nobody sees half of it.
#pragma once
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "report/document.h"

namespace kvplan {

// "json", "md"…; throws Error that lists all.
OutputFormat output_format_of(std::string_view name);
// By a path's extension: .json, .csv, .md, .html; empty for another.
std::optional<OutputFormat> format_of_path(std::string_view path);

class Output {
 public:
  // Nothing or "-" is stdout. Throws Error that names the path where it cannot be written.
  explicit Output(const std::optional<std::string>& path);
  ~Output();  // what was not written leaves no trace
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool is_stdout() const { return path_.empty(); }
  // The whole text, once. Throws Error where not all of it could be written.
  void write(std::string_view text);

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;    // as typed; empty: stdout
  std::string target_;  // where links lead; empty: written in place (a device or a pipe)
  std::string beside_;  // the file that becomes the target
  std::FILE* file_ = nullptr;
};

}  // namespace kvplan
