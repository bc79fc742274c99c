// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "cli/terminal.h"
#include "report/text.h"

namespace kvplan {
namespace {

constexpr Seconds kPause(0.1);
constexpr int kBar = 24;

Seconds steady_now() {
  return Seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

std::string bar(double done) {
  const int full = static_cast<int>(std::lround(done * kBar));
  std::string text;
  for (int i = 0; i < full; ++i) text += "━";
  text += "\x1b[2m";
  for (int i = full; i < kBar; ++i) text += "─";
  return text + "\x1b[0m";
}

std::string remaining(double done, Seconds spent) {
  if (done < 0.05 || spent < Seconds(1)) return {};
  return fmt::format(" · {:.0f} s left", std::ceil((spent * ((1 - done) / done)).v));
}

}  // namespace

Progress::Progress(std::FILE* stream)
    : Progress(stream, wants_colour(stream), steady_now, width_of(stream, 80)) {}

Progress::Progress(std::FILE* stream, bool on, std::function<Seconds()> now, int width)
    : stream_(stream), on_(on), now_(std::move(now)), width_(width), start_(now_()) {}

void Progress::update(double done, std::string_view what) {
  const Seconds now = now_();
  if (!on_ || (drawn_ && now - *drawn_ < kPause)) return;
  drawn_ = now;
  done = std::isfinite(done) ? std::clamp(done, 0.0, 1.0) : 0;
  const std::string text =
      fmt::format("{:.0f}%{} · {}", done * 100, remaining(done, now - start_), clean(what));
  const auto room = static_cast<std::size_t>(std::max(width_ - kBar - 2, 1));
  fmt::print(stream_, "\r{} {}\x1b[K", bar(done), wrapped(text, room).front());
  std::fflush(stream_);
}

void Progress::clear() {
  if (!drawn_) return;
  drawn_.reset();
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
}

}  // namespace kvplan
