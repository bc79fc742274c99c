// SPDX-License-Identifier: Apache-2.0
#include "cli/lengths_part.h"

#include <fmt/format.h>

#include "report/lengths.h"
#include "report/numbers.h"

namespace kvplan {
namespace {

std::string name_of(const Reservation& r, Tokens piece) {
  switch (r.kind) {
    case Reservation::contiguous:
      return fmt::format("one piece of {} tokens each", shown(value(piece)));
    case Reservation::paged:
      return fmt::format("blocks of {} tokens, all requests at full length", *r.block);
    case Reservation::running:
      return r.block ? fmt::format("blocks of {} tokens, as requests run", *r.block)
                     : "token by token, as requests run";
  }
  return "";
}

}  // namespace

void add_lengths(Document& document, Object& part, const char* part_name, const LengthAnswer& a) {
  std::vector<ReservationRow> rows;
  for (const Reservation& r : a.rows) rows.push_back({name_of(r, a.summary.reserved), r});
  part.emplace_back("lengths", value(a.summary));
  part.emplace_back("reservations", value(rows));
  const std::string at = part_name;
  document.tables.push_back(table<LengthSummary>(at + ".lengths", "Requests"));
  document.tables.push_back(
      table<ReservationRow>(at + ".reservations", "Cache for these requests"));
  document.tables.back().notes = {
      "As requests run: each counts for the steps it takes, at the lengths it then has. An engine "
      "that admits so many preempts some when they happen to be longer."};
}

}  // namespace kvplan
