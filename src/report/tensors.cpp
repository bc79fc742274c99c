// SPDX-License-Identifier: Apache-2.0
#include "report/tensors.h"

#include <fmt/format.h>

#include "report/numbers.h"

namespace kvplan {

Document tensors_document(const std::string& name, const std::string& source,
                          const TensorLines& lines) {
  const TensorLine& all = lines.total;
  Object total = object(all);
  std::erase_if(total, [](const Member& m) {
    return m.key == "part" || m.key == "role" || m.key == "format";
  });
  Document document;
  document.command = "import";
  document.title = "Tensors of " + name;
  document.lead = {fmt::format("{} stores {} tensors of {} parameters in {} bytes ({}).", name,
                               shown(value(all.tensors)), shown(value(all.parameters)),
                               shown(value(all.bytes.n)), shown(value(all.bytes)))};
  document.body.emplace_back("model",
                             value(Object{{"name", value(name)}, {"source", value(source)}}));
  document.body.emplace_back("tensors", value(Object{{"total", value(std::move(total))},
                                                     {"groups", value(lines.groups)}}));
  Table groups = table<TensorLine>("tensors.groups", "By role and format");
  groups.notes = {
      "Packed words, scales and tables are elements that a file stores; parameters are what they "
      "stand for."};
  document.tables = {std::move(groups)};
  return document;
}

}  // namespace kvplan
