// SPDX-License-Identifier: Apache-2.0
#include "cli/lengths.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

using namespace kvplan;

namespace {

std::vector<std::pair<std::int64_t, std::int64_t>> pairs(std::string_view text) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const RequestLength& r : parse_request_lengths(text)) found.emplace_back(r.input, r.output);
  return found;
}

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

}  // namespace

TEST_CASE("public traces are read by the names of their columns") {
  // Azure LLM inference traces 2023, Vidur, BurstGPT, Mooncake: headers and a row as published.
  CHECK(pairs("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.680590,374,44\n") ==
        Pairs{{374, 44}});
  CHECK(pairs("num_prefill_tokens,num_decode_tokens,num_total_tokens\r\n3772,54,3826\r\n") ==
        Pairs{{3772, 54}});
  CHECK(pairs("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
              "5,ChatGPT,472,18,490,Conversation log") == Pairs{{472, 18}});
  CHECK(
      pairs(
          R"({"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46]})") ==
      Pairs{{6955, 52}});
  CHECK(
      pairs(
          "\xef\xbb\xbf\"output_tokens\", \"input_tokens\"\n\n# a remark\n 7 ,\"100\"\n8.0,9\n") ==
      Pairs{{100, 7}, {9, 8}});
}

TEST_CASE("without a header one number is a length, two are input and output") {
  CHECK(pairs("100\n300\n") == Pairs{{100, 0}, {300, 0}});
  CHECK(pairs("100,20\n300,0\n0,0\n") == Pairs{{100, 20}, {300, 0}});
}

TEST_CASE("what is no trace is refused with its line") {
  for (const char* bad :
       {"", "\n\n", "time,model\n1,2\n", "1,2,3\n", "input,output\n5\n", "input\n-5\n",
        "input\n5x\n", "input\n99999999999999999999\n", "{\"a\": 1}\n", "{\"input\": \n", "0\n",
        "\x1f\x8b\x08garbage", "input\n1.5\n"})
    CHECK_THROWS_AS(parse_request_lengths(bad), Error);
  CHECK_THROWS_AS(parse_request_lengths(std::string_view("1\0002\n", 4)), Error);
  try {
    parse_request_lengths("input,output\n1,2\n3,many\n");
    FAIL("not refused");
  } catch (const Error& e) {
    CHECK(e.line == 3);
  }
}

TEST_CASE("any bytes give requests or an error") {
  std::uint64_t state = 1;
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (int n = 0; n < 60; ++n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      constexpr std::string_view kOften = "0123456789,,\n\n{}\"input:output_tokens.";
      const auto pick = static_cast<std::size_t>(state >> 33);
      text += pick % 5 == 0 ? static_cast<char>(pick >> 3) : kOften[pick % kOften.size()];
    }
    try {
      for (const RequestLength& r : parse_request_lengths(text)) CHECK(r.total() > 0);
    } catch (const Error&) {
    }
  }
}

TEST_CASE("lengths come as a list or from a file, which an error names") {
  CHECK(request_lengths("500,2k").at(1).input == 2048);
  const auto path = std::filesystem::temp_directory_path() / "kv-plan-lengths-test.csv";
  std::ofstream(path) << "input_tokens,output_tokens\n10,5\n";
  CHECK(request_lengths(path.string()).at(0).output == 5);
  std::ofstream(path) << "input_tokens\nten\n";
  try {
    request_lengths(path.string());
    FAIL("not refused");
  } catch (const Error& e) {
    CHECK(e.file == path.string());
    CHECK(e.line == 2);
  }
  std::filesystem::remove(path);
  CHECK_THROWS_AS(request_lengths(path.string()), Error);
}
