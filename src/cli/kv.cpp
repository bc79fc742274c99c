// SPDX-License-Identifier: Apache-2.0
// kv-plan kv MODEL: the cache by context x batch, per group, per GPU.
#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/lengths.h"
#include "cli/lengths_part.h"
#include "cli/loads.h"
#include "plan/kv.h"
#include "report/kv.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/numbers.h"
#include "report/speed.h"

namespace kvplan {
namespace {

std::string lead_of(const Resolved& r, const KvAnswer& kv) {
  const std::string model = r.setup.model.name;
  if (kv.groups.empty())
    return fmt::format("{} keeps no cache between steps: {}.", model,
                       std::any_of(r.setup.model.layers.begin(), r.setup.model.layers.end(),
                                   [](const Layer& l) { return !l.mixer.causal; })
                           ? "it is an encoder, in which every key depends on every token"
                           : "none of its layers looks at the past");
  double per_token = kv.bytes_per_token;
  Tokens reach;  // of models whose layers all have windows
  for (const GroupRow& group : kv.groups)
    if (kv.bytes_per_token == 0 && group.window) {
      per_token += group.bytes_per_token;
      reach = std::max(reach, *group.window);
    }
  std::string text =
      fmt::format("{} ({}) keeps {} of cache per token at {}", model, attention_of(r.setup.model),
                  shown(value(per_token, Show::bytes)), r.setup.deployment.cache.name);
  if (r.setup.deployment.parallel.gpus() > 1 && kv.bytes_per_token > 0)
    text += fmt::format(", {} on each GPU", shown(value(kv.bytes_per_token_per_gpu, Show::bytes)));
  const std::string fixed = shown(value(kv.bytes_per_sequence));
  if (reach.n > 0 && reach < r.longest())
    text += fmt::format(", at most {} per sequence: no layer looks back further than {} tokens",
                        fixed, shown(value(reach)));
  else if (reach.n == 0 && kv.bytes_per_sequence.n > 0)
    text += fmt::format(", and {} per sequence whatever its length", fixed);
  return text + ".";
}

}  // namespace

Answer answer_kv(const Request& request, const Catalog& catalog) {
  Resolved r = resolve(request, catalog, request.model, {}, "ideal");
  const auto asked = loads(request, r, "1k,4k,16k,64k,max", "1,8,32");
  Trace trace;
  const KvAnswer kv = kv_answer(r.setup, asked, request.explain ? &trace : nullptr);
  Document document = start(r, "kv");
  Object part = object(kv);
  document.lead = {lead_of(r, kv)};
  if (!kv.groups.empty())
    document.tables = {table<KvRow>("kv.rows", "KV cache"),
                       table<GroupRow>("kv.groups", "Cache groups")};
  if (request.lengths)
    add_lengths(document, part, "kv", length_answer(r.setup, request_lengths(*request.lengths)));
  document.body.emplace_back("kv", value(std::move(part)));
  if (request.explain) add_explanation(document, trace);
  finish(document, r);
  return {std::move(document), 0, r.warnings};
}

}  // namespace kvplan
