// SPDX-License-Identifier: Apache-2.0
// kv-plan devices [FILTER] --for MODEL: which devices serve a load, and how many of each it takes.
#include "cli/choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/engine_choice.h"
#include "cli/loads.h"
#include "cli/plan_text.h"
#include "cli/profiles.h"
#include "report/choices.h"
#include "report/kv.h"
#include "report/model.h"
#include "report/notes.h"
#include "report/numbers.h"

namespace kvplan {
namespace {

constexpr std::int64_t kNode = 8;

Need need_of(const Request& request, Resolved& r) {
  Need need{
      {std::min(kUsersContext, r.longest()), 1}, request.min_tps_per_user, request.min_tps_total};
  if (!asks_load(request)) return need;
  const auto all = loads(request, r, fmt::format("{}", need.load.context.n), "1");
  if (all.size() > 1)
    throw Error("devices are chosen for one load, not for a list")
        .of("--context and --batch")
        .advise("Give one number without commas.");
  need.load = all.front();
  return need;
}

bool same(const Assumption& a, const Assumption& b) {
  return a.what == b.what && a.value == b.value && a.source == b.source;
}
bool same(const Warning& a, const Warning& b) { return a.message == b.message; }

// Drops what is not said of every device.
template <class T>
void keep_common(std::vector<T>& common, const std::vector<T>& here) {
  std::erase_if(common, [&](const T& a) {
    return std::none_of(here.begin(), here.end(), [&](const T& b) { return same(a, b); });
  });
}

// Each device's choice; what is wrong with one of them costs its row alone.
struct Choices {
  std::vector<Choice> found;
  std::optional<Resolved> common;  // of the first device, with what the answers for all rest on
  Need need;
  std::int64_t most = kNode;  // of a device
};

Choices choices_of(Request request, const Catalog& catalog,
                   const std::vector<std::string>& devices) {
  Choices all;
  all.most = request.gpus.value_or(kNode);
  request.gpus = 1;  // where the search begins
  const NamedModel model = named_model(catalog, request.model);
  std::optional<Error> first_error;
  for (const std::string& device : devices) try {
      request.device = device;
      Resolved r = resolve(request, catalog, model, device, usual_engine(request, catalog));
      choose_profile(request, catalog, r);
      all.need = need_of(request, r);
      if (auto found = choice(r.setup, all.need, all.most)) all.found.push_back(std::move(*found));
      if (!all.common) all.common = r;
      keep_common(all.common->assumptions, r.assumptions);
      keep_common(all.common->warnings, r.warnings);
    } catch (const Error& e) {
      if (!first_error) first_error = e;
    }
  if (!all.common && first_error) throw *first_error;
  sort_choices(all.found);
  return all;
}

std::string lead_of(const Choices& all, std::size_t tried) {
  const std::string model = all.common->setup.model.name,
                    load = fmt::format("{} x {} tokens", all.need.load.batch,
                                       shown(value(all.need.load.context)));
  if (all.found.empty())
    return fmt::format("None of these {} devices serves {} with {}, not even {} of a kind.", tried,
                       model, load, all.most);
  std::string text =
      fmt::format("{} of {} devices serve {} with {}, here with the fewest of each that do.",
                  all.found.size(), tried, model, load);
  const Choice& first = all.found.front();
  if (first.usd_per_hour)
    text += fmt::format(" The cheapest whose price is known: {} x {}, {} an hour.",
                        first.layout.layout.gpus(), first.device.title,
                        shown(*first.usd_per_hour, Show::usd));
  return text;
}

}  // namespace

Answer answer_choices(const Request& typed, const Catalog& catalog,
                      const std::vector<std::string>& devices) {
  Request request = typed;
  request.model = *typed.for_model;
  Choices all = choices_of(request, catalog, devices);
  Resolved& common = all.common.value();
  Document document;
  document.command = "devices";
  document.title = "Devices for " + common.setup.model.name;
  document.lead = {lead_of(all, devices.size())};
  document.body.emplace_back("model", value(model_object(common.setup.model)));
  document.body.emplace_back("devices", value(all.found));
  if (!all.found.empty()) {
    Table choices = table<Choice>("devices", "");
    choices.notes = {fmt::format(
        "Users: sequences of {} tokens that fit. Tokens/s at most: {}. A price is the "
        "lowest known one.",
        shown(value(all.need.load.context)),
        all.need.load.batch > 1
            ? fmt::format("of one user alone, of each of {}, and of all these", all.need.load.batch)
            : "of one user")};
    document.tables = {std::move(choices)};
  }
  finish(document, common);
  return {std::move(document), all.found.empty() ? 1 : 0, common.warnings};
}

}  // namespace kvplan
