// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface.h"

#include "catalog/huggingface/class_defaults.h"
#include "catalog/huggingface/draft.h"
#include "model/parameters.h"
#include "word_list.h"

namespace kvplan {
namespace {

using namespace huggingface;

constexpr std::string_view kNested[] = {"text_config", "language_config", "llm_config",
                                        "thinker_config"};

std::string_view type_said(const Node& config) {
  const Node* type = config.find("model_type");
  return type && type->kind == Node::scalar ? std::string_view(type->text) : "";
}

// The text model's keys may be nested in a multimodal configuration.
const Node& text_config(const Node& config) {
  for (const std::string_view name : kNested) {
    const Node* inner = config.find(name);
    if (!inner || inner->kind == Node::null) continue;
    if (inner->kind != Node::map)
      throw Error("expected a map of keys").of(std::string(name)).at_line(inner->line);
    return name == "thinker_config" ? text_config(*inner) : *inner;
  }
  const Node* decoder = config.find("decoder");  // T5Gemma
  if (decoder && decoder->kind == Node::map && find_family(type_said(config))) return *decoder;
  const bool wraps = config.find("vision_config") || config.find("audio_config");
  const bool bare = !config.find("hidden_size") && !config.find("d_model");
  if (wraps && bare)
    throw Error("the configuration lacks the part that describes the text model").of("text_config");
  return config;
}

std::string_view type_by_class(const Node& config) {
  const Node* classes = config.find("architectures");
  const bool named = classes && classes->kind == Node::list && !classes->items.empty();
  return named ? type_of_class(classes->items.front().text) : "";
}

// Where nothing else says it, the modelling class does.
std::string model_type_of(const Node& config) {
  const Node* type = config.find("model_type");
  if (!type || type->kind == Node::null) return std::string(type_by_class(config));
  if (type->kind != Node::scalar)
    throw Error("expected a name").of("model_type").at_line(type->line);
  return type->text;
}

// An unknown model is read as a plain decoder: every key that may bear on memory must then be
// understood, or account_for_unread_keys refuses it.
const Family kUnknown{.types = "?", .qk_norm = Family::per_head, .qk_norm_on_request = true};

const Family& family_of(const Node& config, const Node& text) {
  const std::string outer = model_type_of(config), inner = model_type_of(text);
  if (outer.empty() && inner.empty())
    throw Error("the configuration has no model_type")
        .of("model_type")
        .advise("Give a Hugging Face config.json, or name the family in model_type.");
  for (const std::string& type : {inner, outer})
    if (const Family* family = find_family(type)) return *family;
  // A name of its own for what another family's class runs (xai-org/grok-2 calls itself "git").
  const Family* by_class = find_family(type_by_class(config));
  return by_class ? *by_class : kUnknown;
}

// A nested configuration may leave out whatever equals its class' defaults.
Node defaults_of(const Family& family, const Node& text, bool nested) {
  const std::string_view of_class = nested ? class_defaults(model_type_of(text)) : "";
  Node all = of_class.empty() ? Node{} : parse_yaml(of_class);
  if (family.defaults.empty()) return all;
  Node of_family = parse_yaml(family.defaults);
  if (all.kind == Node::null) return of_family;
  for (const auto& [name, value] : of_family.members)
    if (!all.find(name)) put(all, name, value);
  return all;
}

bool is_tied(const Draft& d) {
  constexpr std::string_view kTied[] = {"tie_word_embeddings", "weight_tying",
                                        "share_input_output_layers"};
  return d.top.flag(kTied, d.keys.flag(kTied, d.family.tied));
}

void add_ends(Draft& d) {
  Weights& ends = d.model.ends;
  add_table(ends, "embed_tokens", d.vocabulary, d.hidden);
  if (d.family.extra_positions && d.model.max_context)
    add_table(ends, "embed_positions",
              checked_add(d.model.max_context->n, *d.family.extra_positions), d.hidden,
              Sharding::replicated);
  if (d.family.embedding_norm) add_norm(d, ends, "embed_layernorm", d.hidden);
  add_norm(d, ends, "norm", d.hidden);
  d.model.tied_head = is_tied(d);
  if (!d.model.tied_head) add_matrix(ends, "lm_head", Role::head, d.vocabulary, d.hidden);
  if (d.family.head_bias || d.keys.flag({"lm_head_bias"}))
    add_vector(ends, "lm_head.bias", Role::head, d.vocabulary);
}

void add_layers(Draft& d) {
  for (std::int64_t i = 0; i < d.layers; ++i) {
    Layer layer;
    (d.family.layer ? d.family.layer : decoder_layer)(d, i, layer);
    d.model.layers.push_back(std::move(layer));
  }
}

// Beyond every model that exists: a slip, and a danger to the sums that follow.
void check_size(const Draft& d) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  try {
    if (count_parameters(d.model).total <= kMost) return;
  } catch (const Error&) {  // does not fit in 64 bits
  }
  d.keys.refuse({"hidden_size", "n_embd", "n_embed", "d_model"},
                "with these widths and layers the model has more than 10^15 parameters");
}

// Have Llama's keys, but experts in their attention or a second decoder.
constexpr std::string_view kUnlikeLlama = "jetmoe moshi";

// A gated feed-forward and weighted norms: what a plain decoder is taken for.
bool is_like_llama(const Keys& k) {
  const std::string activation = k.text({"hidden_act", "hidden_activation", "activation_function"});
  const bool gated = activation == "silu" || activation == "swish" || activation == "swiglu";
  return gated && k.has({"rms_norm_eps", "norm_eps"});
}

void check_family(Draft& d) {
  if (&d.family != &kUnknown) return;
  if (d.keys.flag({"is_encoder_decoder"}))
    throw Error("model_type '" + d.model.model_type + "' is not known to kv-plan")
        .of("model_type")
        .advise("kv-plan knows T5, BART, Whisper and their kin among models with an encoder.");
  if (d.model.model_type.find("bert") != std::string::npos)
    throw Error("model_type '" + d.model.model_type + "' is an encoder that kv-plan does not know")
        .of("model_type")
        .advise(
            "An encoder keeps no cache; of encoders kv-plan knows BERT, RoBERTa and ModernBERT.");
  if (!is_like_llama(d.keys) || has_word(kUnlikeLlama, d.model.model_type))
    throw Error("model_type '" + d.model.model_type +
                "' is not known to kv-plan, and nothing says that its layers are built as Llama's")
        .of("model_type")
        .advise(
            "In a copy of the configuration, name a family that kv-plan knows and that has the "
            "same layers: llama, gpt_neox, opt.");
  d.warn("unknown-model-type", "model_type '" + d.model.model_type +
                                   "' is not known: read as Llama is built, all of whose keys "
                                   "that bear on memory are understood; norms, biases and the "
                                   "total may differ a little");
}

void read_all(Draft& d, const Node* quantization) {
  read_widths(d);
  if (d.family.widths) d.family.widths(d);
  read_experts(d);
  add_layers(d);
  add_ends(d);
  if (d.family.finish) d.family.finish(d);
  read_mtp(d);
  read_vision(d);
  check_size(d);
  read_formats(d, quantization);
  account_for_unread_keys(d);
}

// Says first that nobody promised to understand this model.
Error of_unknown_family(const Draft& d, const Error& cause) {
  if (std::string_view(cause.what()).find("model_type") != std::string_view::npos) return cause;
  Error error("model_type '" + d.model.model_type +
              "' is not known to kv-plan, and read as Llama it is not understood: " + cause.what());
  return error.of(cause.key)
      .at_line(cause.line)
      .advise(cause.advice.empty()
                  ? "Name a family with the same layers in a copy of the configuration, or "
                    "give the model's GGUF or safetensors file."
                  : cause.advice);
}

// `visit` sees the draft when every key has been read.
template <class Visit>
ModelSpec read(const Node& config, const Node* quantization, Visit visit) {
  if (config.kind != Node::map) throw Error("expected a map of keys").at_line(config.line);
  const Node& text = text_config(config);
  const Family& family = family_of(config, text);
  const bool nested = &text != &config;
  const Node defaults = defaults_of(family, text, nested);
  const Keys keys(text, &defaults);
  const Keys top = nested ? Keys(config) : keys;
  top.pass_over(kNested);

  ModelSpec model;
  Draft d{top, keys, family, model};
  const std::string outer = model_type_of(config);
  model.model_type = outer.empty() ? model_type_of(text) : outer;
  model.name = model.model_type;
  check_family(d);
  try {
    read_all(d, quantization);
  } catch (const Error& e) {
    if (&family == &kUnknown) throw of_unknown_family(d, e);
    throw;
  }
  visit(d);
  return model;
}

}  // namespace

ModelSpec read_huggingface(const Node& config, const Node* quantization) {
  return read(config, quantization, [](const Draft&) {});
}

Node keys_that_count(const Node& config, const Node* quantization) {
  Node kept;
  read(config, quantization, [&](const Draft& d) { kept = huggingface::keys_that_count(d); });
  return kept;
}

}  // namespace kvplan
