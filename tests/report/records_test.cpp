// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/budget.h"
#include "report/device.h"
#include "report/grid.h"
#include "report/kv.h"
#include "report/ladder.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/profile.h"
#include "report/speed.h"

using namespace kvplan;

namespace {

template <class T>
T at(const Object& o, std::string_view path) {
  const Value* v = find(o, path);
  REQUIRE(v);
  return std::get<T>(v->v);
}

bool absent(const Object& o, std::string_view path) {
  const Value* v = find(o, path);
  return v && std::holds_alternative<std::monostate>(v->v);
}

std::vector<std::string> keys(const std::vector<Column>& columns) {
  std::vector<std::string> all;
  for (const Column& c : columns) all.push_back(c.key);
  return all;
}

Layer attention_layer(std::int64_t heads, std::int64_t kv_heads, std::vector<Reach> reach) {
  Layer layer;
  layer.mixer.kind = Attention{heads, kv_heads, 128, 128};
  layer.mixer.reach = std::move(reach);
  return layer;
}

}  // namespace

TEST_CASE("a decode row has the keys of the stable layout") {
  DecodeRow row;
  row.context = Tokens(4096);
  row.batch = 8;
  row.fits = true;
  row.step.seconds = Seconds(0.01);
  row.step.weight_bytes = Bytes(1000);
  const Object o = object(row);
  CHECK(at<std::int64_t>(o, "context") == 4096);
  CHECK(at<double>(o, "ceiling.tokens_per_second") == doctest::Approx(800));
  CHECK(at<double>(o, "ceiling.tokens_per_second_per_sequence") == doctest::Approx(100));
  CHECK(at<double>(o, "ceiling.step_seconds") == 0.01);
  CHECK(at<std::string>(o, "ceiling.bound") == "bandwidth");
  CHECK(at<std::int64_t>(o, "weight_bytes") == 1000);
  CHECK(absent(o, "typical"));
}

TEST_CASE("a row without a datasheet's number has no ceiling rather than a zero") {
  DecodeRow row;
  CHECK(absent(object(row), "ceiling"));
  PrefillRow prompt;
  CHECK(absent(object(prompt), "ceiling"));
}

TEST_CASE("a prefill row counts the tokens of all prompts") {
  PrefillRow row;
  row.prompt = Tokens(1024);
  row.batch = 4;
  row.prefill.seconds = Seconds(2);
  CHECK(at<double>(object(row), "ceiling.tokens_per_second") == 2048);
}

TEST_CASE("columns reach into nested records and keep their order") {
  const std::vector<std::string> all = keys(columns<DecodeRow>());
  const auto place = [&](const char* key) { return std::find(all.begin(), all.end(), key); };
  CHECK(all.front() == "context");
  CHECK(place("ceiling.tokens_per_second") < place("typical.tokens_per_second"));
  CHECK(place("ceiling") == all.end());
}

TEST_CASE("lists are no columns") {
  for (const std::string& key : keys(columns<KvAnswer>()))
    CHECK((key != "rows" && key != "groups"));
}

TEST_CASE("whole bytes per token are integers in the document, fractions stay") {
  KvAnswer answer;
  answer.bytes_per_token = 69120;
  answer.bytes_per_token_per_gpu = 562.5;
  const Object o = object(answer);
  CHECK(at<std::int64_t>(o, "bytes_per_token") == 69120);
  CHECK(at<double>(o, "bytes_per_token_per_gpu") == 562.5);
}

TEST_CASE("a group shows a window only where it has one") {
  KvAnswer answer;
  answer.groups = {{"full", 12, 12, 100, {}, {}, {}, {}},
                   {"window", 36, 36, 300, Tokens(1024), {}, {}, Bytes(7)}};
  const Object o = object(answer);
  const Array groups = at<Array>(o, "groups");
  CHECK(absent(std::get<Object>(groups[0].v), "window"));
  CHECK(at<std::int64_t>(std::get<Object>(groups[1].v), "window") == 1024);
}

TEST_CASE("the lines of a budget add up in order, the cache last") {
  Budget budget;
  budget.weights.value = Bytes(10);
  budget.kv_pool.value = Bytes(-3);
  const std::vector<NamedLine> lines = lines_of(budget);
  CHECK(lines.back().name == "KV cache");
  CHECK(at<std::int64_t>(object(budget), "kv_pool_bytes") == -3);
  CHECK(at<Array>(object(budget), "lines").size() == lines.size());
  CHECK(absent(object(budget), "utilization"));
}

TEST_CASE("a device without a datasheet has absent numbers, not zeros") {
  DeviceSpec device;
  device.name = "local";
  CHECK(absent(object(device), "bandwidth_bytes_per_second"));
  device.bandwidth.value = BytesPerSecond(1008e9);
  device.peaks.push_back({Precision::fp8, false, {FlopsPerSecond(660.6e12), "datasheet", false}});
  CHECK(at<double>(object(device), "bandwidth_bytes_per_second") == 1008e9);
  const Array peaks = at<Array>(object(device), "peaks");
  CHECK(at<std::string>(std::get<Object>(peaks.at(0).v), "precision") == "fp8");
}

TEST_CASE("attention is named as the field names it") {
  ModelSpec model;
  CHECK(attention_of(model) == "none");
  model.layers = {attention_layer(32, 8, {All{}})};
  CHECK(attention_of(model) == "GQA-8");
  model.layers = {attention_layer(32, 32, {All{}})};
  CHECK(attention_of(model) == "MHA");
  model.layers = {attention_layer(32, 1, {All{}})};
  CHECK(attention_of(model) == "MQA");
  model.layers = {attention_layer(16, 8, {Window{Tokens(1024)}}), attention_layer(16, 1, {All{}})};
  CHECK(attention_of(model) == "GQA-8 + window + MQA");
  Layer latent;
  latent.mixer.kind = Latent{128, 512, 64, 128, 128};
  model.layers = {latent};
  CHECK(attention_of(model) == "MLA");
}

TEST_CASE("a fit, an assumption, a rung and a term of a trace are described") {
  CHECK(at<std::string>(object(Fit{}), "class") == "gemm");
  CHECK(at<std::string>(object(Assumption{"--kv", "bf16", Basis::engine_rule, "auto"}), "basis") ==
        "engine-rule");
  Rung rung;
  rung.recipe = "q4_k_m";
  CHECK(at<std::string>(object(rung), "weights") == "q4_k_m");
  const Trace::Term term{"a = b x c", {{"b", 1500, "B"}, {"c", 2, ""}}, 3000, "B"};
  CHECK(at<std::string>(object(term), "with") == "b 1,500 B, c 2");
  CHECK(at<std::string>(object(term), "gives") == "3,000 B");
}
