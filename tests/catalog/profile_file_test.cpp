// SPDX-License-Identifier: Apache-2.0
#include "catalog/profile_file.h"

#include <doctest/doctest.h>

#include "catalog/catalog.h"
#include "catalog/scratch.h"
#include "error.h"

using namespace kvplan;

namespace {

// A law whose constants are no round numbers.
template <class L>
L odd_law() {
  L law;
  double factor = 1;
  L::each(law, [&](const char*, double& value, double low, double high) {
    value = low + (high - low) / 7 * (factor /= 1.37);
  });
  return law;
}

template <class L>
Fit fit_of(OperatorClass op, std::string format, std::string variant = {}) {
  Fit fit;
  fit.op = op;
  fit.format = std::move(format);
  fit.variant = std::move(variant);
  fit.law = odd_law<L>();
  fit.samples = 77;
  fit.bands = {{Seconds(1.0 / 3e5), 0.1 + 0.6, 1.3}, {Seconds(2.0 / 3), 0.9, 1.1}};
  fit.left_out = Quality{70, 0.04 / 3, 0.2, 0.8};
  return fit;
}

Profile every_kind() {
  Profile p;
  p.device = "h100-sxm";
  p.title = "A \"name\" with \\ and: #";
  p.machine = "driver 550.54, 1980 MHz";
  p.origin = "line one\nline two";
  p.date = "2026-11-30";
  p.stream_read = BytesPerSecond(3.1e12 / 3);
  p.launch = Seconds(2.5e-6);
  p.fits = {fit_of<GemmLaw>(OperatorClass::gemm, "bf16"),
            fit_of<GemmLaw>(OperatorClass::weight_stream, "fp8"),
            fit_of<DecodeAttentionLaw>(OperatorClass::decode_attention, "bf16"),
            fit_of<PrefillAttentionLaw>(OperatorClass::prefill_attention, "bf16"),
            fit_of<LatentLaw>(OperatorClass::latent_decode, "fp8"),
            fit_of<MoeLaw>(OperatorClass::moe, "bf16"),
            fit_of<RecurrenceLaw>(OperatorClass::state_scan, "fp32", "kda"),
            fit_of<SparseLatentLaw>(OperatorClass::sparse_step, "bf16", "16-bit cache"),
            fit_of<CollectiveLaw>(OperatorClass::collective, "", "all_reduce NCCL")};
  p.fits[0].correction = Correction{{{{{0, 2}, {5, 1}, {7, 3}}}}, {0, -12, 7, 250, -250, 1}};
  p.fits[0].edges = {{1, 16, {1, 1}, {0.9 / 7, 1.1}}, {32, 65536, {0.5, 2}, {1, 1}}};
  p.fits[0].holdout = Quality{12, 1e-9, 3, 1};
  const Format* bf16 = &format_named("bf16");
  p.measured = {
      {GemmShape{1, 4096, 4096, bf16}, Seconds(1.1e-5), {}, {Seconds(1e-5 / 3), Seconds(1.2e-5)}},
      {DecodeAttentionShape{2, 32, 8, 128, 128, 4096, bf16, bf16}, Seconds(1e-5)},
      {PrefillAttentionShape{2, 32, 8, 128, 128, 4096, 0, bf16}, Seconds(1e-5)},
      {LatentDecodeShape{2, 32, 512, 64, 100, bf16, bf16}, Seconds(1e-5)},
      {MoeShape{4, 2048, 512, 8, 256, 1, 2, bf16}, Seconds(1e-5)},
      {RecurrenceShape{Recurrent::kda, 4, 1, 8, 8, 128, 128, 0, 0, bf16}, Seconds(1e-5), "kda"},
      {CollectiveShape{CollectiveShape::all_reduce, 8, Bytes(512)}, Seconds(1e-5), "all_reduce"}};
  return p;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  REQUIRE(at != text.npos);
  return text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("a profile reads back equal, to the last bit of every constant") {
  const Profile profile = every_kind();
  CHECK(read_profile(parse_yaml(profile_text(profile))) == profile);
  const Profile empty{"x", {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  CHECK(read_profile(parse_yaml(profile_text(empty))) == empty);
}

TEST_CASE("the laws of a profile are read without its samples, its name without its laws") {
  Profile profile = every_kind();
  const std::string text = profile_text(profile);
  CHECK(read_profile(parse_yaml(laws_in(text))).fits == profile.fits);
  CHECK(read_profile(parse_yaml(laws_in(text))).measured.empty());
  CHECK(parse_yaml(head_in(text)).find("name")->text == profile.device);
  CHECK(parse_yaml(head_in(text)).find("fits") == nullptr);
}

TEST_CASE("a profile whose name stands below its laws is found, too") {
  const testing::Scratch scratch;
  std::filesystem::create_directories(scratch.path("profiles"));
  const std::string text = profile_text(every_kind()), name = "\nname: \"h100-sxm\"\n";
  scratch.write("profiles/any.yaml", replaced(text, name, "\n") + name.substr(1));
  const auto found = Catalog(scratch.folder()).find("profiles", "h100-sxm");
  REQUIRE(found);
  CHECK(found->file.ends_with("any.yaml"));
}

TEST_CASE("a profile of another version, a stranger's key or an impossible constant is refused") {
  const std::string text = profile_text(every_kind());
  for (const auto& [what, with] : std::vector<std::pair<std::string, std::string>>{
           {"profile_version: 1", "profile_version: 2"},
           {"fits:", "fit:"},
           {"class: gemm", "class: stream_read"},
           {"class: gemm", "class: nothing"},
           {"format: bf16", "format: bf17"},
           {"floor_seconds: ", "floor_seconds: -"},
           {"floor_seconds: ", "floor_second: "},
           {"up_to_seconds: ", "up_to_seconds: 1e300 #"},
           {"low: ", "low: 1"},
           {"powers: [2, 1, 3]", "powers: [2, 1, 4]"},
           {"first_power: [0", "first_power: [70"},
           {"-12 ", "-12000 "},
           {"least: 1,", "least: 0,"},
           {"below: [1, 1]", "below: [2, 1]"},
           {"median_ape: ", "median_ape: -"}}) {
    CAPTURE(what);
    CHECK_THROWS_AS(read_profile(parse_yaml(replaced(text, what, with))), Error);
  }
}

TEST_CASE("a constant that a law gained later may be missing, and is then what changes nothing") {
  const Profile profile = every_kind();
  std::string text = profile_text(profile);
  const auto drop = [&](const std::string& constant) {
    for (auto at = text.find(constant + ": "); at != text.npos; at = text.find(constant + ": ")) {
      const auto line = text.rfind('\n', at);
      text.erase(line, text.find('\n', at) - line);
    }
  };
  for (const char* constant : {"beyond_split", "single_row", "single_split", "least_rows",
                               "seconds_per_row", "product_flops_per_second", "skew"})
    drop(constant);
  const Profile read = read_profile(parse_yaml(text));
  REQUIRE(read.fits.size() == profile.fits.size());
  const auto& gemm = std::get<GemmLaw>(read.fits[0].law);
  const auto& kept = std::get<GemmLaw>(profile.fits[0].law);
  CHECK(gemm.floor == kept.floor);
  CHECK(gemm.rate_sharpness == kept.rate_sharpness);
  // One row has no factor of its own, and a loop beyond the split grows no more.
  CHECK(gemm.single_row == 1);
  CHECK(gemm.single_split == 1);
  CHECK(gemm.beyond_split == 0);
  CHECK(gemm.least_rows == 1e4);  // beyond any tile of 64 rows
  CHECK(gemm.per_row.v == 0);
  CHECK(std::get<DecodeAttentionLaw>(read.fits[2].law).rate.v == 1e17);  // beyond any device
  CHECK(std::get<MoeLaw>(read.fits[5].law).skew == 0);  // ranks^0: every rank has its share
  CHECK(read_profile(parse_yaml(profile_text(read))) == read);
}

TEST_CASE("a law without one of its constants is refused by the name of the constant") {
  const std::string text = profile_text(every_kind());
  const auto message = [](const std::string& profile) {
    try {
      read_profile(parse_yaml(profile));
    } catch (const Error& error) {
      CHECK(error.line > 0);
      CHECK(error.advice.find("calibrate again") != error.advice.npos);
      return error.key + " " + error.what();
    }
    return std::string("read");
  };
  const auto at = text.find("seconds_per_block: "), line = text.rfind('\n', at);
  REQUIRE(at != text.npos);
  std::string lacking = text;
  lacking.erase(line, text.find('\n', at) - line);
  CHECK(message(lacking).find("seconds_per_block") != std::string::npos);
  CHECK(message(replaced(text, "tile_rows: ", "line_rows: 1\n      tile_rows: "))
            .starts_with("line_rows this law has no such constant"));
}

TEST_CASE("any damage to a profile gives an error or a profile, never a crash") {
  const std::string good = profile_text(every_kind());
  std::uint32_t state = 7;
  const auto random = [&] { return state = state * 1664525 + 1013904223; };
  for (int round = 0; round < 400; ++round) {
    std::string text = good;
    for (int hits = 0; hits < 3; ++hits)
      text[random() / 64 % text.size()] = static_cast<char>(random() >> 24);
    try {
      (void)read_profile(parse_yaml(text));
    } catch (const Error&) {
    }
  }
}
