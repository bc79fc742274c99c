// SPDX-License-Identifier: Apache-2.0
// The models of the catalog against what others publish about them (tests/truth/models.yaml,
// parameters.yaml).
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "catalog/catalog.h"
#include "catalog/files.h"
#include "catalog/model_file.h"
#include "cost/prefill.h"
#include "model/cache.h"
#include "model/parameters.h"

using namespace kvplan;

namespace {

const Catalog& catalog() {
  static const Catalog shared;
  return shared;
}

const Node& truth(std::string_view part) {
  static const Node models = read_tree(KVPLAN_SOURCE_DIR "/tests/truth/models.yaml"),
                    parameters = read_tree(KVPLAN_SOURCE_DIR "/tests/truth/parameters.yaml");
  for (const Node* file : {&models, &parameters})
    if (const Node* found = file->find(part)) return *found;
  throw Error("no such table of facts").of(std::string(part));
}

bool warns(const ModelSpec& model, std::string_view code) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [&](const Warning& w) { return w.code == code; });
}

std::int64_t number(const Node& row, std::string_view key) { return *row.find(key)->integer(); }

struct CacheSums {
  std::int64_t full = 0, window = 0, index = 0;  // bytes per token
  std::int64_t state = 0;                        // bytes per sequence
};

CacheSums cache_sums(const ModelSpec& model) {
  CacheSums sums;
  for (const CacheGroup& g : cache_groups(model, cache_formats("bf16"))) {
    const auto grows = static_cast<std::int64_t>(bytes_per_token(g));
    if (g.kind == CacheGroup::full || g.kind == CacheGroup::latent) sums.full += grows;
    if (g.kind == CacheGroup::window || g.kind == CacheGroup::chunk) sums.window += grows;
    if (g.kind == CacheGroup::index) sums.index += grows;
    sums.state += state_bytes(g).n * static_cast<std::int64_t>(g.layers.size());
  }
  return sums;
}

}  // namespace

TEST_CASE("every model of the catalog reads and is found by its name and by every alias") {
  REQUIRE(catalog().entries("models").size() >= 200);
  for (const CatalogEntry& entry : catalog().entries("models")) {
    CAPTURE(entry.name);
    CHECK("models/" + entry.name + ".yaml" == entry.file);
    const ModelSpec model = catalog().model(entry.name);
    CHECK(model.name == entry.name);
    CHECK(!model.source.empty());
    CHECK(count_parameters(model).total > 0);
    for (const std::string& alias : entry.aliases) {
      CAPTURE(alias);
      CHECK(catalog().find("models", alias)->name == entry.name);
    }
  }
}

TEST_CASE("no model of the catalog carries a key that its reader does not use") {
  for (const CatalogEntry& entry : catalog().entries("models"))
    for (const Warning& warning : catalog().model(entry.name).warnings) {
      CAPTURE(entry.name);
      CAPTURE(warning.message);
      CHECK(warning.code != "unread-key");
    }
}

TEST_CASE("models have the published number of parameters, to the last digit") {
  for (const Node& row : truth("parameters").items) {
    CAPTURE(row.find("model")->text);
    const ModelSpec model = catalog().model(row.find("id")->text);
    CHECK(model.name == row.find("model")->text);
    const Parameters p = count_parameters(model);
    CHECK(p.total == number(row, "total"));
    if (row.find("published"))
      CHECK(number(row, "published") == p.total + p.mtp + p.scales + p.encoders_apart +
                                            (row.find("others") ? number(row, "others") : 0));
    CHECK_FALSE(warns(model, kUnverifiedModel));
  }
}

TEST_CASE("models keep the bytes per token and per sequence that their shapes need") {
  for (const Node& row : truth("models").items) {
    CAPTURE(row.find("model")->text);
    const CacheSums sums = cache_sums(catalog().model(row.find("model")->text));
    CHECK(sums.full == number(row, "full"));
    CHECK(sums.window == number(row, "window"));
    CHECK(sums.index == number(row, "index"));
    CHECK(sums.state == number(row, "state"));
  }
}

TEST_CASE("models have the heads and layers that vLLM resolves") {
  for (const Node& row : truth("vllm").items) {
    CAPTURE(row.find("model")->text);
    const ModelSpec model = catalog().model(row.find("model")->text);
    CHECK(static_cast<std::int64_t>(main_layers(model).size()) == number(row, "layers"));
    for (const Layer* layer : main_layers(model))
      if (const auto* attention = std::get_if<Attention>(&layer->mixer.kind)) {
        CHECK(attention->kv_heads == number(row, "kv_heads"));
        CHECK(attention->k_width == number(row, "head_size"));
      } else if (const auto* latent = std::get_if<Latent>(&layer->mixer.kind)) {
        CHECK(latent->latent + latent->rope == number(row, "head_size"));
      }
  }
}

TEST_CASE("no model of the catalog is unverified") {
  for (const CatalogEntry& entry : catalog().entries("models")) {
    CAPTURE(entry.name);
    CHECK_FALSE(warns(catalog().model(entry.name), kUnverifiedModel));
  }
}

// Table of a widely copied tutorial; Ainslie et al. 2023 for the idea.
TEST_CASE("grouped queries shrink the cache by the published share") {
  for (const auto& [name, share] : {std::pair{"llama-1-7b", 1.0},
                                    {"llama-2-7b", 1.0},
                                    {"llama-2-13b", 1.0},
                                    {"llama-2-70b", 0.125},
                                    {"llama-3-8b", 0.25},
                                    {"llama-3-70b", 0.125},
                                    {"mistral-7b", 0.25},
                                    {"qwen2-7b", 4.0 / 28}}) {
    CAPTURE(name);
    const ModelSpec model = catalog().model(name);
    const auto& attention = std::get<Attention>(main_layers(model)[0]->mixer.kind);
    CHECK(static_cast<double>(attention.kv_heads) / static_cast<double>(attention.heads) ==
          doctest::Approx(share));
  }
}

// AI21, IBM, Google, BigCode, Z.ai, OpenAI, Moonshot, TII and EleutherAI: families that are unlike
// their neighbours have an entry each.
TEST_CASE("every family of decoders has a model in the catalog") {
  for (const char* name :
       {"falcon-7b", "falcon-40b", "starcoder", "starcoder2-7b", "gpt-j-6b", "gpt-neox-20b",
        "jamba", "granite-4.0-h-small", "gemma-3n-e4b", "glm-4.5", "whisper-large-v3", "t5-large",
        "kimi-linear", "minimax-m3-nvfp4", "nemotron-3.5-lightning-30b-a3b-nvfp4"}) {
    CAPTURE(name);
    CHECK(count_parameters(catalog().model(name)).total > 0);
  }
}

TEST_CASE("what a multimodal model's total leaves out is named") {
  for (const auto& [name, code] :
       {std::pair{"kimi-k3", "vision-not-counted"}, {"phi-3-small-8k", "block-sparse-reads"}}) {
    CAPTURE(name);
    CHECK(warns(catalog().model(name), code));
  }
}

TEST_CASE("towers that a publisher counts apart are resident and not in the total") {
  for (const Node& row : truth("apart").items) {
    CAPTURE(row.find("model")->text);
    const ModelSpec model = catalog().model(row.find("model")->text);
    const Parameters p = count_parameters(model);
    CHECK(p.encoders_apart == number(row, "elements"));
    CHECK(p.vision == 0);
    CHECK(warns(model, "towers-apart"));
    std::int64_t towers = 0;
    for (const RoleBytes& role : weights_by_role(model))
      if (role.role == Role::vision) towers += role.bytes.n;
    CHECK(towers == 2 * p.encoders_apart);  // in 16 bits
  }
}

TEST_CASE("an id of another organisation is the model of that name, and says so") {
  const ModelSpec model = catalog().model("somebody/Llama-3.2-3B-Instruct");
  CHECK(model.name == "llama-3.2-3b");
  CHECK(warns(model, "taken-by-name"));
  CHECK_FALSE(warns(catalog().model("meta-llama/Llama-3.2-3B-Instruct"), "taken-by-name"));
}

TEST_CASE("a family's name is met with its members") {
  for (const auto& [typed, member] : {std::pair{"llama3.1", "llama-3.1-8b"},
                                      {"gpt-oss", "gpt-oss-20b"},
                                      {"starcoder2", "starcoder2-7b"}}) {
    CAPTURE(typed);
    try {
      catalog().model(typed);
      FAIL("there is no such model");
    } catch (const Error& e) {
      CHECK(e.advice.find(member) != std::string::npos);
    }
  }
}

TEST_CASE("an id is found without its organisation") {
  CHECK(catalog().model("Llama-3.1-8B-Instruct").name == "llama-3.1-8b");
  CHECK(catalog().model("meta-llama/Llama-3.1-8B-Instruct").name == "llama-3.1-8b");
  CHECK(catalog().model("QWEN3 30B A3B").name == "qwen3-30b-a3b");
}

TEST_CASE("an encoder reads a text with all of its layers") {
  const ModelSpec bert = catalog().model("bert-base");
  CHECK_FALSE(generates(bert));
  DeviceSpec device;
  device.bandwidth.value = BytesPerSecond(1e12);
  const Prefill p = prefill(bert, {}, device, Tokens(512), 1);
  // 12 layers of 4 x 768^2 + 2 x 768 x 3072 weights, and the pooler's 768^2 for one token at least.
  const double products = 2.0 * 512 * 12 * (4 * 768 * 768 + 2 * 768 * 3072);
  CHECK(p.attention_flops.v == 4.0 * 512 * 512 * 768 * 12);
  CHECK(p.flops.v - p.attention_flops.v >= products + 2.0 * 768 * 768);
  CHECK(p.flops.v - p.attention_flops.v <= products + 2.0 * 512 * 768 * 768);
}
