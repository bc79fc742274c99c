// SPDX-License-Identifier: Apache-2.0
// Lines of a log of unknown origin and any size, in bounded memory.
#pragma once
#include <cstdint>
#include <istream>
#include <string>

namespace kvplan::logs {

class Lines {
 public:
  explicit Lines(std::istream& in) : in_(in) {}

  // The next line without colours, control characters and zero bytes (UTF-16 becomes readable);
  // false at the end. What a progress bar overwrote by carriage returns is a line of its own.
  bool next(std::string& line);

  std::int64_t number() const { return number_; }  // 1-based, of the line last returned
  std::int64_t cut() const { return cut_; }        // lines that were longer than kMost

  static constexpr std::size_t kMost = std::size_t{64} << 10;

 private:
  bool get(char& c);
  void skip_escape();

  std::istream& in_;
  std::string chunk_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0, newlines_ = 0, cut_ = 0;
};

// What a collector of logs that writes a JSON object a line was given: its escapes undone, which is
// all that the tables need. Other lines as they are.
std::string unwrapped(std::string line);

}  // namespace kvplan::logs
