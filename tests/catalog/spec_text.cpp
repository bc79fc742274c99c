// SPDX-License-Identifier: Apache-2.0
#include "catalog/spec_text.h"

#include <initializer_list>

#include "model/cache.h"

namespace kvplan::testing {
namespace {

std::string numbers(std::initializer_list<std::int64_t> values) {
  std::string out;
  for (const std::int64_t n : values) out += (out.empty() ? "" : ",") + std::to_string(n);
  return "(" + out + ")";
}

std::string name_of(const Format* f) { return f ? std::string(f->name) : "none"; }

std::string text(std::monostate) { return "none"; }
std::string text(const Attention& a) {
  return "attention" + numbers({a.heads, a.kv_heads, a.k_width, a.v_width, a.v_is_k, a.rope_width});
}
std::string text(const Latent& a) {
  return "latent" + numbers({a.heads, a.latent, a.rope, a.nope, a.v_width});
}
std::string text(const Recurrent& r) {
  return "recurrent" +
         numbers({r.kind, r.k_heads, r.v_heads, r.k_width, r.v_width, r.taps, r.conv_channels}) +
         name_of(r.state_format);
}

std::string text(const Reach& reach) {
  std::string out = " reach " + std::to_string(reach.index());
  if (const auto* w = std::get_if<Window>(&reach)) out += "/" + std::to_string(w->size.n);
  if (const auto* c = std::get_if<Chunk>(&reach)) out += "/" + std::to_string(c->size.n);
  if (const auto* c = std::get_if<Compressed>(&reach)) out += "/" + std::to_string(c->ratio);
  return out;
}

std::string text(const Mixer& mixer) {
  std::string out = std::visit([](const auto& kind) { return text(kind); }, mixer.kind);
  for (const Reach& reach : mixer.reach) out += text(reach);
  if (const auto& s = mixer.sparse)
    out += " sparse" +
           numbers({s->heads, s->width, s->key_heads, s->top_entries, s->ratio, s->owns_keys});
  out += " shares " + std::to_string(mixer.shares_cache_of.value_or(-1));
  if (mixer.beside) out += " beside " + text(*mixer.beside);
  return out + (mixer.causal ? "" : " not causal");
}

std::string text(const std::vector<Weight>& weights) {
  std::string out;
  for (const Weight& w : weights)
    out += "  " + std::string(w.name) + " " + std::string(kvplan::name_of(w.role)) + " " +
           name_of(w.format) +
           numbers({w.rows, w.columns, w.copies, w.active, static_cast<int>(w.sharding),
                    w.is_matrix, w.is_auxiliary}) +
           "\n";
  return out;
}

}  // namespace

std::string caches_text(const ModelSpec& model) {
  std::string out;
  for (const CacheGroup& g : cache_groups(model, cache_formats("bf16"), true)) {
    out += std::to_string(g.kind) + " law " + std::to_string(g.law.index());
    if (const auto* w = std::get_if<Window>(&g.law)) out += "/" + std::to_string(w->size.n);
    if (const auto* c = std::get_if<Chunk>(&g.law)) out += "/" + std::to_string(c->size.n);
    if (const auto* c = std::get_if<Compressed>(&g.law)) out += "/" + std::to_string(c->ratio);
    for (const Part& p : g.entry)
      out += " " + std::to_string(p.role) + ":" + std::to_string(p.heads) + "x" +
             std::to_string(p.width) + (p.replicated ? "r" : "");
    out += " state " + std::to_string(state_bytes(g).n);
    out += " limit " + std::to_string(g.read_limit.value_or(-1)) + " layers";
    for (const int i : g.layers) out += " " + std::to_string(i);
    out += " readers";
    for (const int i : g.readers) out += " " + std::to_string(i);
    out += "\n";
  }
  return out;
}

std::string spec_text(const ModelSpec& model) {
  std::string out =
      model.model_type + " " +
      numbers({model.hidden, model.vocabulary, model.max_context ? model.max_context->n : -1,
               model.tied_head, model.head_once_more}) +
      name_of(model.native) + " " + name_of(model.cache_hint) + " " + model.recipe + "\n";
  for (const Layer& layer : model.layers)
    out += std::to_string(layer.role) + " " + text(layer.mixer) + "\n" + text(layer.weights);
  out += "ends\n" + text(model.ends) + "vision\n" + text(model.vision);
  for (const Warning& w : model.warnings) out += w.code + ": " + w.message + "\n";
  return out;
}

}  // namespace kvplan::testing
