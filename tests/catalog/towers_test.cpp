// SPDX-License-Identifier: Apache-2.0
// Models around image and audio encoders, and what nested configurations leave out.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "catalog/huggingface.h"
#include "model/parameters.h"

using namespace kvplan;

namespace {

ModelSpec read(const std::string& yaml) { return read_huggingface(parse_yaml(yaml)); }

bool warns(const ModelSpec& model, std::string_view code) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [&](const Warning& w) { return w.code == code; });
}

// LLaVA around a Mistral whose keys are `text`.
ModelSpec llava(const std::string& text) {
  return read("{model_type: llava_next, text_config: {model_type: mistral" + text +
              "}, vision_config: {model_type: clip_vision_model, hidden_size: 1024, "
              "intermediate_size: 4096, num_hidden_layers: 24, image_size: 336, patch_size: 14}}");
}

}  // namespace

TEST_CASE(
    "a nested configuration leaves out what equals its class' defaults, null is not left out") {
  // MistralConfig: 32 layers, 8 KV heads of 128, a window of 4,096.
  const ModelSpec silent = llava("");
  CHECK(main_layers(silent).size() == 32);
  const auto& heads = std::get<Attention>(main_layers(silent)[0]->mixer.kind);
  CHECK(heads.kv_heads == 8);
  CHECK(std::get<Window>(main_layers(silent)[0]->mixer.reach.at(0)).size.n == 4096);
  const ModelSpec unlimited = llava(", sliding_window: null");
  CHECK(std::holds_alternative<All>(main_layers(unlimited)[0]->mixer.reach.at(0)));
}

TEST_CASE("a tower without a shape is named, the text model is counted all the same") {
  const ModelSpec model = read(
      "{model_type: somebodys_vl, text_config: {model_type: llama, vocab_size: 1000}, "
      "vision_config: {model_type: somebodys_vit, hidden_size: 1024}}");
  CHECK(warns(model, "vision-not-counted"));
  CHECK(count_parameters(model).vision == 0);
  CHECK(count_parameters(model).total > 6'000'000'000);
}

TEST_CASE("an absurd side of a patch is an error that names the key") {
  for (const std::string patch : {"0", "[0, 0]", "-14", "[14.5, 14.5]"}) {
    CAPTURE(patch);
    try {
      read(
          "{model_type: llava, text_config: {model_type: llama}, "
          "vision_config: {model_type: clip_vision_model, patch_size: " +
          patch + "}}");
      FAIL("was read");
    } catch (const Error& e) {
      CHECK(e.key == "patch_size");
    }
  }
}
