// SPDX-License-Identifier: Apache-2.0
// One line on a terminal that says how far the work is, and leaves no trace.
#pragma once
#include <cstdio>
#include <functional>
#include <optional>
#include <string_view>

#include "units.h"

namespace kvplan {

class Progress {
 public:
  // Silent unless the stream is a terminal that takes colour (cli/terminal.h).
  explicit Progress(std::FILE* stream = stderr);
  // For tests: `on` whatever the stream is, `now` instead of the clock.
  Progress(std::FILE* stream, bool on, std::function<Seconds()> now, int width);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` in [0, 1]. Drawn at most ten times a second.
  void update(double done, std::string_view what);
  // Takes the line away, so that other text can be printed; the next update draws it again.
  void clear();

 private:
  std::FILE* stream_;
  bool on_;
  std::function<Seconds()> now_;
  int width_;
  Seconds start_;
  std::optional<Seconds> drawn_;
};

}  // namespace kvplan
