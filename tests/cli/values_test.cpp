// SPDX-License-Identifier: Apache-2.0
#include "cli/values.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace kvplan;

namespace {

using Counts = std::vector<std::int64_t>;

std::string refusal(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const Error& e) {
    return std::string(e.what()) + " " + e.advice;
  }
  return "accepted";
}

}  // namespace

TEST_CASE("k is 1024 and m is 1024 times that") {
  CHECK(count_of("8") == 8);
  CHECK(count_of("32k") == 32768);
  CHECK(count_of("128K") == 131072);
  CHECK(count_of("1m") == 1048576);
  CHECK(count_of("1.5k") == 1536);
}

TEST_CASE("a number is read as the tables print it, with its thousands parted") {
  CHECK(count_of("131,072") == 131072);
  CHECK(count_of("1,000,000") == 1000000);
  for (const char* word : {",500", "1,2", "1,0000", "1234,567", "1,234k", "1,234,", "1,,234"})
    CHECK_THROWS_AS(count_of(word), Error);
}

TEST_CASE("a list that can only be one number is refused") {
  CHECK(refusal([] { counts_of("10,000"); }).find("one number") != std::string::npos);
  CHECK(refusal([] { lengths_of("1,048,576"); }).find("one number") != std::string::npos);
  CHECK(counts_of("128,256") == Counts{128, 256});
}

TEST_CASE("a count that is not whole, not a number, too small or too large is refused") {
  for (const char* word : {"", "k", "-1", "1.3", "0.3k", "4kb", "1e3", "4 k", "0x10", "1..", "."})
    CHECK_THROWS_AS(count_of(word), Error);
  CHECK_THROWS_AS(count_of("0"), Error);
  CHECK(count_of("0", 0) == 0);
  CHECK_THROWS_AS(count_of("9223372036854775808"), Error);
  CHECK_THROWS_AS(count_of("999999999999999999m"), Error);
}

TEST_CASE("lists and ranges keep the order typed") {
  CHECK(counts_of("4k,32k") == Counts{4096, 32768});
  CHECK(counts_of("1..256*2") == Counts{1, 2, 4, 8, 16, 32, 64, 128, 256});
  CHECK(counts_of("512-4096*2") == Counts{512, 1024, 2048, 4096});
  CHECK(counts_of("512-2k+512") == Counts{512, 1024, 1536, 2048});
  CHECK(counts_of("1..4") == Counts{1, 2, 3, 4});
  CHECK(counts_of("3-5,1") == Counts{3, 4, 5, 1});
  CHECK(counts_of(" 1 , 2 ") == Counts{1, 2});
}

TEST_CASE("a range stops at the last value that is not beyond its end") {
  CHECK(counts_of("1..100*2") == Counts{1, 2, 4, 8, 16, 32, 64});
  CHECK(counts_of("1..10+4") == Counts{1, 5, 9});
  CHECK(counts_of("7..7") == Counts{7});
}

TEST_CASE("a range that never ends, runs backwards or explodes is refused") {
  for (const char* word : {"1..8*1", "1..8+0", "8..1", "1..1m", "1..", "..8", "1..8*", "1,,2", ",",
                           "0..8*2", "1-", "1..9223372036854775807"})
    CHECK_THROWS_AS(counts_of(word), Error);
  CHECK(counts_of("500000000000000000-999999999999999999*2").size() == 1);
}

TEST_CASE("max is a length of its own, not the end of a range, and never a batch") {
  const auto lengths = lengths_of("1k,MAX");
  REQUIRE(lengths.size() == 2);
  CHECK(lengths[0] == AskedLength{Tokens(1024)});
  CHECK(lengths[1].or_max(Tokens(131072)) == Tokens(131072));
  CHECK_THROWS_AS(lengths_of("1k..max*2"), Error);
  CHECK_THROWS_AS(counts_of("max"), Error);
}

TEST_CASE("a size needs a unit, and decimal sizes are exact") {
  CHECK(size_of("24GiB") == Bytes(25769803776));
  CHECK(size_of("80GB") == Bytes(80'000'000'000));
  CHECK(size_of("80 gb") == Bytes(80'000'000'000));
  CHECK(size_of("123B") == Bytes(123));
  CHECK(size_of("0.1GB") == Bytes(100'000'000));
  CHECK(size_of("15.99GiB") == Bytes(17169131765));  // 15.99 * 2^30 = 17169131765.76, cut
  CHECK(size_of("1.5TiB") == Bytes(1649267441664));
  for (const char* word : {"24", "24G", "24Gi", "GiB", "-1GiB", "1e3GB", "", "99999999999TiB"})
    CHECK_THROWS_AS(size_of(word), Error);
}

TEST_CASE("a refused size shows what is accepted") {
  CHECK(refusal([] { size_of("24"); }) ==
        "\"24\" has no unit Give a size with its unit: 24GiB, 80GB, 512MiB or 123B.");
  CHECK(refusal([] { size_of("24G"); }).find("1000s or 1024s") != std::string::npos);
}

TEST_CASE("a refused word of any length makes a short message") {
  CHECK(refusal([] { count_of(std::string(1'000'000, '9')); }).size() < 200);
}

TEST_CASE("a bandwidth needs a unit") {
  CHECK(bandwidth_of("3.35TB/s").v == doctest::Approx(3.35e12).epsilon(1e-15));
  CHECK(bandwidth_of("900 GB/s").v == 900e9);
  for (const char* word : {"900", "900GB", "/s", "0GB/s", "GB/s", "fast"})
    CHECK_THROWS_AS(bandwidth_of(word), Error);
}

TEST_CASE("a share is a fraction or a percentage") {
  CHECK(share_of("0.9") == 0.9);
  CHECK(share_of("90%") == 0.9);
  CHECK(share_of("92.5 %") == 0.925);
  CHECK(share_of("1") == 1.0);
  for (const char* word : {"90", "0", "1.01", "101%", "-0.5", "all", "0.9x", ""})
    CHECK_THROWS_AS(share_of(word), Error);
}

TEST_CASE("a positive number is finite and above zero") {
  CHECK(positive_of("7.5") == 7.5);
  for (const char* word : {"0", "-1", "nan", "inf", "1e999", "5x", ""})
    CHECK_THROWS_AS(positive_of(word), Error);
}

TEST_CASE("an engine's flag is named with underscores, its value is left alone") {
  using Setting = std::pair<std::string, std::string>;
  CHECK(setting_of("--max-num-seqs=256") == Setting{"max_num_seqs", "256"});
  CHECK(setting_of("speculative_config.method=mtp-x=1") ==
        Setting{"speculative_config.method", "mtp-x=1"});
  CHECK(setting_of("cpu_offload=") == Setting{"cpu_offload", ""});
  for (const char* word : {"ctx_size", "=5", "--=5", ""}) CHECK_THROWS_AS(setting_of(word), Error);
}

TEST_CASE("two widths and words between commas") {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  CHECK(pair_of("512+64") == Pair{512, 64});
  CHECK(pair_of("256,0") == Pair{256, 0});
  CHECK_THROWS_AS(pair_of("512"), Error);
  CHECK(words_of("attention, mlp") == std::vector<std::string>{"attention", "mlp"});
  CHECK_THROWS_AS(words_of("attention,"), Error);
}
