// SPDX-License-Identifier: Apache-2.0
// kv-plan gqa MODEL [DEVICE]: the same model as MHA, GQA, MQA, MLA and windowed.
#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/loads.h"
#include "plan/attention.h"
#include "plan/caching.h"
#include "report/attention.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/numbers.h"

namespace kvplan {
namespace {

std::string lead_of(const Resolved& r, const std::vector<AttentionRow>& rows, const Load& load,
                    std::int64_t users) {
  std::string text = fmt::format("{} has {}.", subject(r), attention_of(r.setup.model));
  if (!r.setup.device) return text;
  const auto most = most_kv_heads(rows, load.context, users);
  const std::string need = fmt::format("{} x {} tokens", users, shown(value(load.context)));
  return text + (most ? fmt::format(" {} fit with up to {} KV heads.", need, *most)
                      : fmt::format(" {} do not fit with any number of KV heads.", need));
}

std::vector<std::string> notes_of(Tokens context) {
  const CachingWork work = caching_work(context.n);
  return {
      "Quality is not computed: groups of 4 to 8 query heads per KV head stay near MHA (Ainslie et "
      "al. 2023, GQA).",
      fmt::format("Caching at all: to generate {} tokens without one costs {:.0f} times the "
                  "attention and {:.0f} times the projections and MLPs.",
                  shown(value(context)), work.pairs_uncached / work.pairs_cached,
                  work.tokens_uncached / work.tokens_cached)};
}

}  // namespace

Answer answer_gqa(const Request& request, const Catalog& catalog) {
  Resolved r = resolve(request, catalog, request.model, request.device.value_or(""), "ideal");
  const auto asked = loads(request, r, "4k,32k", "1,32");
  std::optional<LatentWidths> latent;
  if (request.mla) latent = LatentWidths{request.mla->first, request.mla->second};
  const auto rows = attention_rows(r.setup, asked, latent);
  Document document = start(r, "gqa");
  document.body.emplace_back("gqa", value(Object{{"rows", value(rows)}}));
  document.lead = {lead_of(r, rows, asked.front(), request.users.value_or(asked.front().batch))};
  Table variants = table<AttentionRow>("gqa.rows", "Attention");
  variants.notes = notes_of(asked.front().context);
  document.tables = {std::move(variants)};
  finish(document, r);
  return {std::move(document), 0, r.warnings};
}

}  // namespace kvplan
