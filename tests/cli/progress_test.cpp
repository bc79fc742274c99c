// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "report/text.h"

using namespace kvplan;

namespace {

struct Screen {  // a stream in memory
  Screen() : stream(open_memstream(&data, &size)) {}
  ~Screen() {
    std::fclose(stream);
    std::free(data);
  }
  std::string text() {
    std::fflush(stream);
    return {data, size};
  }
  char* data = nullptr;
  std::size_t size = 0;
  std::FILE* stream;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("progress is silent where there is no terminal") {
  Screen screen;
  {
    std::FILE* file = std::tmpfile();
    Progress progress(file);
    progress.update(0.5, "half");
    progress.clear();
    CHECK(std::ftell(file) == 0);
    std::fclose(file);
  }
  Progress off(
      screen.stream, false, [] { return Seconds(0); }, 80);
  off.update(0.5, "half");
  off.clear();
  CHECK(screen.text().empty());
}

TEST_CASE("progress erases itself") {
  Screen screen;
  {
    Progress progress(
        screen.stream, true, [] { return Seconds(0); }, 80);
    progress.update(0.5, "half");
    CHECK(screen.text().find("50% · half") != std::string::npos);
  }
  CHECK(screen.text().ends_with("\r\x1b[K"));
  CHECK(screen.text().find('\n') == std::string::npos);
}

TEST_CASE("progress is drawn at most ten times a second") {
  Screen screen;
  Seconds now(0);
  Progress progress(
      screen.stream, true, [&] { return now; }, 80);
  for (int i = 0; i < 1000; ++i) {
    now = Seconds(0.001 * i);
    progress.update(0.001 * i, "step");
  }
  CHECK(count(screen.text(), "step") == 10);
}

TEST_CASE("progress tells the time that is left once it can know") {
  Screen screen;
  Seconds now(0);
  Progress progress(
      screen.stream, true, [&] { return now; }, 80);
  progress.update(0.01, "begin");
  CHECK(screen.text().find("left") == std::string::npos);
  now = Seconds(10);
  progress.update(0.25, "later");
  CHECK(screen.text().find("25% · 30 s left · later") != std::string::npos);
}

TEST_CASE("progress keeps to one line of the terminal") {
  Screen screen;
  Progress progress(
      screen.stream, true, [] { return Seconds(0); }, 60);
  progress.update(2.0, std::string(500, 'x') + "\n\x1b[31m");
  std::string text = screen.text();
  for (const char* code : {"\x1b[2m", "\x1b[0m", "\x1b[K", "\r"})
    for (std::size_t at; (at = text.find(code)) != std::string::npos;)
      text.erase(at, std::string(code).size());
  CHECK(display_width(text) < 60);
  CHECK(text.find("100%") != std::string::npos);
}
