// SPDX-License-Identifier: Apache-2.0
// Logs are text of unknown origin: whatever is in them, reading ends, stays small and never fails.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "engine/options.h"
#include "logs/lines.h"
#include "logs/pattern.h"
#include "logs/python.h"
#include "logs/read.h"

using namespace kvplan;
namespace fs = std::filesystem;

namespace {

const fs::path kExamples = KVPLAN_SOURCE_DIR "/tests/logs/examples";

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

StartLog text(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_log(in, test::shipped_engines());
}

// Text that repeats without being kept: a log of any size.
class Endless : public std::streambuf {
 public:
  Endless(std::string line, std::int64_t times) : line_(std::move(line)), left_(times) {}

 private:
  int_type underflow() override {
    if (left_-- <= 0) return traits_type::eof();
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return traits_type::to_int_type(*gptr());
  }
  std::string line_;
  std::int64_t left_;
};

}  // namespace

TEST_CASE("every line of the hostile corpus is read to its end") {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(KVPLAN_SOURCE_DIR "/tests/logs/hostile")) {
    CAPTURE(entry.path().string());
    const StartLog log = text(bytes_of(entry.path()));
    CHECK(log.settings.size() <= 256);
    CHECK(log.refusals.size() <= 16);
    ++files;
  }
  CHECK(files >= 8);
}

TEST_CASE("examples that break off anywhere are read") {
  for (const auto& entry : fs::directory_iterator(kExamples)) {
    const std::string whole = bytes_of(entry.path());
    for (std::size_t n = 0; n < whole.size(); n += 37) text(whole.substr(0, n));
  }
}

TEST_CASE("examples with bytes that were changed at random are read") {
  std::mt19937 random(1);
  for (const auto& entry : fs::directory_iterator(kExamples)) {
    const std::string whole = bytes_of(entry.path());
    for (int round = 0; round < 40; ++round) {
      std::string changed = whole;
      for (int i = 0; i < 20; ++i)
        changed[random() % changed.size()] = static_cast<char>(random() % 256);
      text(changed);
    }
  }
}

TEST_CASE("a line without end takes no more than its first 64 KiB") {
  Endless endless(std::string(100000, 'x'), 200);
  std::istream in(&endless);
  const StartLog log = read_log(in, test::shipped_engines());
  CHECK(log.cut_lines == 1);
  CHECK(log.lines == 1);
}

TEST_CASE("a pattern takes time that is linear in the line") {
  std::string line;
  while (line.size() < logs::Lines::kMost) line += "max_total_num_tokens=1, ";
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) logs::match(line, "max_total_num_tokens={n}, {*}context_len={n}");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("numbers beyond any memory are no numbers") {
  const StartLog log = text(
      "INFO GPU KV cache size: 99999999999999999999999999 tokens\n"
      "INFO Available KV cache memory: 1e400 GiB\n"
      "INFO Available KV cache memory: 99999999999999999999 GiB\n"
      "llama_kv_cache:      CUDA0 KV buffer size =  99999999999999999999999.00 MiB\n");
  CHECK_FALSE(log.tokens.has_value());
  CHECK_FALSE(log.pool.has_value());
  CHECK(log.cache_buffers.empty());
}

TEST_CASE("sums of buffers stay within 64 bits") {
  std::string lines;
  for (int i = 0; i < 20000; ++i)
    lines += "llama_kv_cache:      CUDA0 KV buffer size =  900000000.00 MiB\n";
  CHECK(text(lines).cache_buffers.at("CUDA0").least.n > 0);
}

TEST_CASE("arguments that nest without end are passed over") {
  std::string deep = "a=1, b=";
  for (int i = 0; i < 30000; ++i) deep += "([{";
  const auto pairs = logs::python_pairs(deep);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs.front().second == "1");
  CHECK(logs::python_pairs("'").empty());
  CHECK(logs::python_pairs("a='\\").size() == 1);
}
