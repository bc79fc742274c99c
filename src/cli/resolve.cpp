// SPDX-License-Identifier: Apache-2.0
#include "cli/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/model_name.h"
#include "catalog/model_path.h"
#include "catalog/names.h"
#include "cli/engine_choice.h"
#include "cli/local.h"
#include "cli/roles.h"
#include "cli/served_name.h"
#include "cli/values.h"
#include "engine/command_line.h"
#include "engine/flags.h"
#include "model/average.h"
#include "model/recipe.h"
#include "plan/layouts.h"

namespace kvplan {
namespace {

bool has_weights_below(int bits, const ModelSpec& model) {
  for (const Layer& layer : model.layers)
    for (const Weight& w : layer.weights)
      if (w.is_matrix && w.format->bits < bits) return true;
  return false;
}

bool is_quantised(const ModelSpec& model) { return has_weights_below(16, model); }

// Ollama's library keeps models of 16 and 8 bits in 4 unless a tag asks for another file type.
bool is_pulled_quantised(const Request& request, const Catalog& catalog, std::string_view typed,
                         const ModelSpec& model) {
  if (looks_like_path(typed) || request.weights) return false;
  const TypedModel name = typed_model(typed);
  const bool by_ollama =
      request.engine_command
          ? parse_command(*request.engine_command, catalog.engines()).options.name == "ollama"
      : request.engine ? parse_engine(*request.engine, catalog.engines()).name == "ollama"
                       : name.is_tag;
  return by_ollama && name.weights.empty() && !has_weights_below(8, apply_recipe(model, "config"));
}

void choose_cache(const Request& request, Resolved& r) {
  Deployment& deployment = r.setup.deployment;
  if (request.kv && *request.kv != "auto") {
    deployment.cache = cache_formats(*request.kv);
    return;
  }
  const ModelSpec& model = r.setup.model;
  if (const auto own = default_cache(r.setup.engine)) {
    deployment.cache = cache_formats(own->value);
    return note(r, "--kv", own->value, Basis::engine_rule,
                "the engine's default cache type: " + own->source);
  }
  if (model.cache_hint) {
    deployment.cache = cache_formats(model.cache_hint->name);
    return note(r, "--kv", std::string(model.cache_hint->name), Basis::exact,
                "the checkpoint asks for it");
  }
  const std::string_view name = model.native && model.native->name == "fp16" ? "fp16" : "bf16";
  deployment.cache = cache_formats(name);
  note(r, "--kv", std::string(name), Basis::assumed, "16 bits, as engines choose by themselves");
}

void require_equal(std::int64_t asked, std::int64_t computed, const char* what) {
  if (asked == computed) return;
  throw Error("--gpus " + std::to_string(asked) + " contradicts " + what + " = " +
              std::to_string(computed))
      .of("--gpus")
      .advise("Leave one of them out.");
}

// --tp, --pp, --dp say the layout; --gpus (or the 8 of 8xh100) lets the program choose it.
void choose_layout(const Request& request, Resolved& r, std::optional<std::int64_t> counted) {
  Parallelism& p = r.setup.deployment.parallel;
  if (request.gpus && counted && *request.gpus != *counted)
    throw Error("--gpus " + std::to_string(*request.gpus) + " contradicts the " +
                std::to_string(*counted) + " devices named")
        .of("--gpus");
  const auto gpus = request.gpus ? request.gpus : counted;
  p.ep = request.ep.value_or(1);
  p.dcp = request.dcp.value_or(1);
  if (request.tp || request.pp || request.dp) {
    p.tp = request.tp.value_or(1);
    p.pp = request.pp.value_or(1);
    p.dp = request.dp.value_or(1);
    if (gpus && !request.tp && *gpus % (p.pp * p.dp) == 0) p.tp = *gpus / (p.pp * p.dp);
    if (gpus) require_equal(*gpus, p.gpus(), "tp x pp x dp");
  } else if (gpus && *gpus > 1) {
    const auto fitting = layouts_of(r.setup, *gpus);
    if (fitting.empty())
      throw Error("no split into " + std::to_string(*gpus) + " GPUs divides this model")
          .of("--gpus")
          .advise("Try a power of two, or say --tp and --pp.");
    const std::int64_t ep = p.ep, dcp = p.dcp;
    p = fitting.front();
    p.ep = ep;
    p.dcp = dcp;
    if (p.pp == *gpus)
      note(r, "--pp", std::to_string(p.pp), Basis::engine_rule,
           "each GPU takes its share of layers");
    else
      note(r, "--tp", std::to_string(p.tp), Basis::assumed,
           p.pp > 1 ? "as far as the heads divide; the rest are pipeline stages"
                    : "all GPUs, as the heads divide");
  } else if (!gpus) {
    note(r, "--gpus", "1", Basis::assumed, "one device");
  }
  validate(r.setup.model, p);
}

// "19.8GB", what a file takes on disk, is the average width that gives as much.
std::string recipe_of(const std::string& typed, Resolved& r) {
  if (!is_by_size(typed) || typed.find("bpw") != typed.npos) return typed;
  try {
    const std::string recipe = average_recipe(r.as_read, size_of(typed));
    note(r, "--weights", recipe, Basis::assumed, "the average of a file of " + typed);
    return recipe;
  } catch (Error& e) {
    throw e.of("--weights");
  }
}

// Figures count the link among all GPUs, which a ceiling may and a server cannot.
void warn_beyond_links(Resolved& r) {
  const Parallelism& p = r.setup.deployment.parallel;
  if (!r.setup.device || !r.setup.device->peer || !r.setup.device->peer->gpus) return;
  const Link& link = *r.setup.device->peer;
  const std::int64_t exchanging = std::max(p.tp, p.ep);
  if (exchanging <= *link.gpus) return;
  r.warnings.push_back(
      {"beyond-links", fmt::format("{} joins {} GPUs, and {} would exchange data in every layer: "
                                   "what lies between them is slower than the figures count",
                                   link.kind, *link.gpus, exchanging)});
}

// What the engine quantises while it loads counts for checkpoints in 16 bits alone.
void choose_weights(const Request& typed, const Request& effective, Resolved& r) {
  const bool by_engine = effective.weights && !typed.weights;
  std::string recipe = effective.weights.value_or("config");
  if (by_engine && is_quantised(apply_recipe(r.as_read, "config"))) recipe = "config";
  if (!effective.weights)
    note(r, "--weights", "config", Basis::exact, "the formats of the checkpoint");
  r.setup.model = apply_recipe(r.as_read, recipe_of(recipe, r));
  if (typed.roles) keep_roles(r.setup.model, *typed.roles);
  if (const auto& asked = r.setup.engine.max_model_len;
      asked && r.as_read.max_context && *asked > *r.as_read.max_context)
    r.warnings.push_back(
        {"beyond-model-context",
         std::to_string(asked->n) + " tokens are more than the " +
             std::to_string(r.as_read.max_context->n) +
             " that the model was made for: engines refuse them unless told not to"});
  if (!r.as_read.max_context)
    note(r, "--max-model-len", "32768", Basis::assumed,
         "the configuration names no longest context");
}

void choose_device(const Request& request, Resolved& r, const Catalog& catalog,
                   std::string_view name) {
  if (name.empty()) return;
  std::string remark;
  r.setup.device = device_named(catalog, name, &remark);
  if (is_local(name)) r.assumptions.push_back(about_local(*r.setup.device));
  if (!remark.empty()) r.warnings.push_back({"device-family", remark});
  if (request.bandwidth) r.setup.device->bandwidth = {*request.bandwidth, "--bandwidth", false};
}

}  // namespace

void note(Resolved& r, std::string what, std::string value, Basis basis, std::string source) {
  r.assumptions.push_back({std::move(what), std::move(value), basis, std::move(source)});
}

NamedModel named_model(const Catalog& catalog, std::string_view typed) {
  return {std::string(typed), catalog.model(typed)};
}

Resolved resolve(const Request& request, const Catalog& catalog, std::string_view model,
                 std::string_view device, std::string_view default_engine) {
  return resolve(request, catalog, named_model(catalog, model), device, default_engine);
}

Resolved resolve(const Request& request, const Catalog& catalog, const NamedModel& model,
                 std::string_view device, std::string_view default_engine) {
  const bool pulled = is_pulled_quantised(request, catalog, model.typed, model.as_read);
  Request asked = request;
  if (pulled) asked.weights = kUsualFileType;
  Resolved r = resolve(asked, catalog, model.as_read, device, default_engine);
  r.served = served_name(catalog, model.typed, r.setup.engine.name, asked.weights);
  if (pulled)
    note(r, "--weights", *asked.weights, Basis::engine_rule,
         "what Ollama pulls where a tag names no file type");
  return r;
}

Resolved resolve(const Request& request, const Catalog& catalog, ModelSpec model,
                 std::string_view device, std::string_view default_engine) {
  Resolved r;
  r.as_read = std::move(model);
  r.warnings = r.as_read.warnings;
  const Counted named = device.empty() ? Counted{} : catalog.counted(device);
  choose_device(request, r, catalog, named.name);
  choose_engine(request, r, catalog, default_engine);
  r.setup.engine.device = r.setup.device;
  const Request effective = with_engine_flags(request, r);
  choose_weights(request, effective, r);
  choose_cache(effective, r);
  choose_layout(effective, r,
                device.empty() || named.count == 1 ? std::nullopt : std::optional(named.count));
  warn_beyond_links(r);
  note_engine_defaults(r);
  r.setup.deployment.source_tokens = request.source_tokens.value_or(Tokens(0));
  r.setup.deployment.shared_prefix = request.shared_prefix.value_or(Tokens(0));
  return r;
}

}  // namespace kvplan
