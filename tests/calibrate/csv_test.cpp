// SPDX-License-Identifier: Apache-2.0
#include "calibrate/csv.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "error.h"

using namespace kvplan;

namespace {

int line_of_error(const std::string& text) {
  try {
    read_measured(text, "");
  } catch (const Error& error) {
    return error.line;
  }
  return -1;
}

const std::string kGemm = "m,n,k,dtype,time_us\n";

}  // namespace

TEST_CASE("a table's header says what was measured") {
  const MeasuredTable table = read_measured(
      "heads,kv_heads,head_dim,kv_dtype,batch,kv_len,time_us\n"
      "32,8,128,bf16,4,1024,12.5\n"
      "32,8,512,bf16,4,1024,12.5\n",
      "");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.left_out == 1);  // head width 512 runs in other kernels
  const auto& shape = std::get<DecodeAttentionShape>(table.rows[0].shape);
  CHECK(shape.kv_heads == 8);
  CHECK(shape.context == 1024);
  CHECK(table.rows[0].time.v == doctest::Approx(12.5e-6));
}

TEST_CASE("columns may stand in any order, beside others, after a byte order mark") {
  const MeasuredTable table =
      read_measured("\xef\xbb\xbftime_us,who,k,n,m,dtype\r\n7,me,3,2,1,bfloat16\r\n", "");
  REQUIRE(table.rows.size() == 1);
  const auto& shape = std::get<GemmShape>(table.rows[0].shape);
  CHECK(shape.m == 1);
  CHECK(shape.n == 2);
  CHECK(shape.weights == &format_named("bf16"));
}

TEST_CASE("of a table with several devices only the rows of the one asked for are read") {
  const std::string text =
      "gpu,op,backend,n_gpus,bytes,time_us\n"
      "a100,all_reduce,NCCL,2,512,9\n"
      "h100,alltoall,NCCL,8,512,8\n";
  const MeasuredTable table = read_measured(text, "h100-sxm");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].variant == "all_to_all NCCL");
  CHECK(std::get<CollectiveShape>(table.rows[0].shape).ranks == 8);
}

TEST_CASE("a table's columns that are missing are named, and the column that holds other times") {
  const auto complaint = [](const std::string& header) {
    try {
      read_measured(header + "\n", "");
    } catch (const Error& error) {
      return error.key + ": " + error.what();
    }
    return std::string("read");
  };
  CHECK(complaint("m,n,k,time_us").ends_with("what was measured: dtype"));
  CHECK(complaint("heads,kv_heads,head_dim,kv_dtype,batch,past_len,time_us").ends_with(": q_len"));
  CHECK(complaint("op,bytes,time_us").ends_with(": n_gpus"));
  CHECK(complaint("x,y,time_us").ends_with("belong to no operator"));
  const std::string times = "times are read from the column time_us, in microseconds";
  CHECK(complaint("m,n,k,dtype,time_ms").starts_with("time_ms: " + times));
  CHECK(complaint("m,n,k,dtype,Latency").starts_with("Latency: " + times));
  CHECK(complaint("m,n,k,dtype").starts_with(": " + times));
}

TEST_CASE("rows that are left out are counted by the reason") {
  const MeasuredTable products = read_measured(
      "gpu,m,n,k,dtype,time_us\nH100-SXM,1,2,3,bf16,5\na100,1,2,3,bf16,5\n"
      "h100,1,2,3,fp8_block,5\nh100,1,2,3,bf61,5\nh100,1,2,3,bf61,5\n",
      "h100-sxm");
  CHECK(products.rows.size() == 1);
  CHECK(products.left_out == 4);
  CHECK(products.left_out_for == std::map<std::string, std::int64_t>{
                                     {"dtype bf61", 2}, {"dtype fp8_block", 1}, {"gpu a100", 1}});
  CHECK(read_measured("heads,kv_heads,head_dim,kv_dtype,batch,kv_len,time_us\n"
                      "32,8,512,bf16,4,1024,12.5\n",
                      "")
            .left_out_for.count("head_dim 512") == 1);
  CHECK(read_measured("op,n_gpus,bytes,time_us\nbroadcast,8,1024,12.5\n", "")
            .left_out_for.count("op broadcast") == 1);
}

TEST_CASE("a faulty table is refused with its line") {
  CHECK(line_of_error("") == 1);
  CHECK(line_of_error("a,b\n1,2\n") == 1);
  CHECK(line_of_error("m,n,k,dtype\n1,2,3,bf16\n") == 1);
  CHECK(line_of_error("m,n,k,dtype,time_us,m\n") == 1);
  CHECK(line_of_error(kGemm + "1,2,3,bf16,5\n1,2,3,bf16\n") == 3);
  CHECK(line_of_error(kGemm + "0,2,3,bf16,5\n") == 2);
  CHECK(line_of_error(kGemm + "1,2,3,bf16,nan\n") == 2);
  CHECK(line_of_error(kGemm + "1,2,3,bf16,-4\n") == 2);
  CHECK(line_of_error(kGemm + "1,2,3,bf16,1e400\n") == 2);
  CHECK(line_of_error(kGemm + "1,99999999999999999999,3,bf16,4\n") == 2);
  CHECK(line_of_error(kGemm + "1099511627776,1099511627776,1099511627776,bf16,4\n") == 2);
  CHECK(line_of_error(
            "heads,kv_heads,head_dim,kv_dtype,batch,kv_len,time_us\n3,2,64,bf16,1,1,1\n") == 2);
}

TEST_CASE("ranks without an expert and choices beyond all experts are refused") {
  const std::string moe = "dtype,tokens,hidden,inter,topk,experts,tp,ep,time_us\n";
  CHECK(line_of_error(moe + "bf16,1,2048,512,2,8,1,16,5\n") == 2);
  CHECK(line_of_error(moe + "bf16,1,2048,512,9,8,1,1,5\n") == 2);
  CHECK(line_of_error(moe + "bf16,1,2048,512,8,8,1,8,5\n") == -1);
}

TEST_CASE("experts are told apart by how evenly they are chosen") {
  const MeasuredTable table = read_measured(
      "dtype,tokens,hidden,inter,topk,experts,tp,ep,distribution,time_us\n"
      "bf16,1,2048,512,8,256,1,1,power_law_1.2,38.061\n",
      "");
  CHECK(table.rows[0].variant == "power_law_1.2");
}

TEST_CASE("any bytes give rows or an error") {
  const std::string good = kGemm + "1,2048,4096,bf16,5.5\n16,2048,4096,fp8,7\n";
  std::uint32_t state = 1;
  const auto random = [&] { return state = state * 1664525 + 1013904223; };
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (std::uint32_t hits = 1 + random() / 64 % 4; hits > 0; --hits)
      text[random() / 64 % text.size()] = static_cast<char>(random() >> 24);
    try {
      for (const Measured& row : read_measured(text, "").rows) CHECK(row.time.v > 0);
    } catch (const Error&) {
    }
  }
}

TEST_CASE("a compressed table reads as the plain one, a damaged one is refused") {
  const auto path = std::filesystem::temp_directory_path() / "kvplan-table-test.csv.gz";
  const std::string text = kGemm + "1,2048,4096,bf16,5.5\n";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  CHECK(read_measured_file(path.string(), "").rows == read_measured(text, "").rows);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  CHECK_THROWS_AS(read_measured_file(path.string(), ""), Error);
  std::ofstream(path) << text;
  CHECK(read_measured_file(path.string(), "").rows.size() == 1);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(read_measured_file(path.string(), ""), Error);
  CHECK_THROWS_AS(read_measured_file(std::filesystem::temp_directory_path().string(), ""), Error);
}
