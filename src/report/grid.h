// SPDX-License-Identifier: Apache-2.0
// A table with its values looked up and written as people read them: what table, markdown and html
// share.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.h"

namespace kvplan {

// The value at a dotted path; nullptr where there is none.
const Value* find(const Object&, std::string_view path);
// The rows of a table: the objects of the array at its part, or the one object that lies there.
std::vector<const Object*> rows_of(const Document&, const Table&);
// The tables to show: all, or the one of that part. Throws Error, listing the parts, for another.
std::vector<const Table*> chosen_tables(const Document&, std::string_view part);

struct Grid {
  struct Head {
    std::string title;
    bool number = false;  // aligned to the right
    int spare = 0;        // goes where there is no room, 1 before 2; 0 stays
  };
  std::string title;
  bool headless = false;  // titles and values of one object
  std::vector<Head> heads;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;
};
// Empty where the table has no rows or no column to show.
std::optional<Grid> grid(const Document&, const Table&);

}  // namespace kvplan
