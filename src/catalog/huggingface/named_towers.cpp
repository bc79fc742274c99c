// SPDX-License-Identifier: Apache-2.0
// Towers that a configuration calls by the name of another model, whose widths are thus known.
#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {

std::optional<Keys> part(const Keys& around, std::string_view name) {
  const Node* node = around.find({name});
  if (!node || node->kind != Node::map) return std::nullopt;
  return Keys(*node);
}

namespace {

// openai/clip-vit-large-patch14-336 and timm's vit_large_patch16_siglip_384,
// vit_so400m_patch14_siglip_384, both with their pooling heads.
struct Named {
  std::string_view part;  // of the name
  std::string_view encoder;
  std::string_view shape;
};
constexpr Named kNamed[] = {
    {"clip-vit-large-patch14-336", "clip_vision_model",
     "{hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, image_size: 336, "
     "patch_size: 14}"},
    {"clip-vit-large-patch14", "clip_vision_model",
     "{hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, image_size: 224, "
     "patch_size: 14}"},
    {"siglip_large_patch16_384", "siglip_vision_model",
     "{hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, image_size: 384, "
     "patch_size: 16}"},
    {"siglip_so400m_patch14_384", "siglip_vision_model",
     "{hidden_size: 1152, intermediate_size: 4304, num_hidden_layers: 27, image_size: 384, "
     "patch_size: 14}"},
};

struct Found {
  std::int64_t elements = 0, width = 0;
};

Keys required_part(const Keys& around, std::string_view name) {
  if (auto found = part(around, name)) return *found;
  around.refuse({name}, "expected a map of keys");
}

std::optional<Found> tower_named(std::string_view name) {
  for (const Named& named : kNamed) {
    if (name.find(named.part) == name.npos) continue;
    const Node shape = parse_yaml(named.shape);
    const Keys keys(shape);
    const Tower tower{keys};
    return Found{find_image_encoder(named.encoder)->count(tower), tower.width()};
  }
  return std::nullopt;
}

// Phi-3-vision: CLIP, four patches joined, two products, learned rows between tiles and images.
// microsoft/Phi-3-vision-128k-instruct: 4,146,621,440 in all.
bool read_phi3_vision(Draft& d) {
  const auto processor = part(d.top, "img_processor");
  if (!processor) return false;
  const auto tower = tower_named(processor->text({"model_name"}));
  if (!tower) return false;
  Count c;
  c.add(tower->elements);
  c.linear(4 * tower->width, d.hidden, true);
  c.linear(d.hidden, d.hidden, true);
  c.vectors(2, 4 * tower->width);
  add_tower(d, "vision_embed_tokens", c.n, true);
  return true;
}

// LLaVA in its authors' own format: the projector's type says how many products it has.
bool read_llava_original(Draft& d) {
  const auto tower = tower_named(d.top.text({"mm_vision_tower"}));
  const std::string type = d.top.text({"mm_projector_type"}, "linear");
  if (!tower || (type != "linear" && type != "mlp2x_gelu")) return false;
  Count c;
  c.add(tower->elements);
  c.linear(tower->width, d.hidden, true);
  if (type == "mlp2x_gelu") c.linear(d.hidden, d.hidden, true);
  add_tower(d, "vision_tower", c.n, true);
  return true;
}

// A projector of `depth` products.
std::int64_t mlp(std::int64_t in, std::int64_t out, std::int64_t depth) {
  Count c;
  c.linear(in, out, true);
  for (std::int64_t i = 1; i < depth; ++i) c.linear(out, out, true);
  return c.n;
}

// DeepSeek-VL2: four patches joined, two products, rows that end a line and part the views.
bool read_deepseek_vl2(Draft& d) {
  if (d.model.model_type != "deepseek_vl_v2") return false;
  const auto vision = part(d.top, "vision_config");
  const auto tower = vision ? tower_named(vision->text({"model_name"})) : std::nullopt;
  if (!tower) return false;
  d.top.pass_over({"projector_config"});
  Count c;
  c.add(tower->elements);
  c.add(mlp(4 * tower->width, d.hidden, 2));
  c.vectors(2, d.hidden);
  add_tower(d, "vision", c.n, true);
  return true;
}

// Janus: SigLIP and an aligner to understand images; to make them, the VQ-16 of LlamaGen (Sun et
// al. 2024; 71,883,403 as transformers' JanusVQVAE builds it), a table of its codes, an aligner and
// a head. 2.09 B in all for Janus-1.3B.
constexpr std::int64_t kVq16 = 71'883'403;

std::int64_t aligner(const Keys& k) {
  return mlp(k.count({"input_dim"}), k.count({"n_embed"}), k.count({"depth"}, 64));
}

std::int64_t janus_generation(const Draft& d) {
  const auto tower = part(d.top, "gen_vision_config");
  if (!tower || tower->text({"cls"}) != "VQ-16") return 0;
  const Keys codes = required_part(*tower, "params"),
             head = required_part(required_part(d.top, "gen_head_config"), "params");
  const std::int64_t inner = head.count({"image_token_embed"});
  Count c;
  c.add(kVq16);
  c.add(product(codes.count({"image_token_size"}), codes.count({"n_embed"})));
  c.add(aligner(required_part(required_part(d.top, "gen_aligner_config"), "params")));
  c.linear(head.count({"n_embed"}), inner, true);
  c.linear(inner, head.count({"image_token_size"}), true);
  return c.n;
}

bool read_janus(Draft& d) {
  if (d.model.model_type != "multi_modality") return false;
  const auto vision = part(d.top, "vision_config");
  const auto params = vision ? part(*vision, "params") : std::nullopt;
  const auto tower = params ? tower_named(params->text({"model_name"})) : std::nullopt;
  if (!tower) return false;
  Count c;
  c.add(tower->elements);
  c.add(aligner(required_part(required_part(d.top, "aligner_config"), "params")));
  add_tower(d, "vision_model", c.n, true);
  if (const std::int64_t made = janus_generation(d); made > 0)
    add_tower(d, "gen_vision_model", made, true);
  return true;
}

// Gemma 3n: MobileNet-V5, which has one shape of that name (timm's mobilenetv5_300m_enc); its codes
// have a table, norms and a projection. google/gemma-3n-E4B-it: 7,849,978,192 in all.
bool read_gemma3n(Draft& d) {
  if (d.model.model_type != "gemma3n") return false;
  constexpr std::int64_t kMobileNetV5 = 294'126'912;
  const auto k = part(d.top, "vision_config");
  if (!k || k->text({"architecture"}, "mobilenetv5_300m_enc") != "mobilenetv5_300m_enc")
    return false;
  const std::int64_t width = k->count_or({"hidden_size"}, 2048);
  Count c;
  c.add(kMobileNetV5);
  c.vectors(k->count_or({"vocab_size"}, 128) + 2, width);
  c.linear(width, d.hidden, false);
  add_tower(d, "vision_tower", c.n, false);
  return true;
}

}  // namespace

bool read_named_tower(Draft& d) {
  return read_deepseek_ocr(d) || read_phi3_vision(d) || read_llava_original(d) ||
         read_deepseek_vl2(d) || read_janus(d) || read_gemma3n(d);
}

}  // namespace kvplan::huggingface
