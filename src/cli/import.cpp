// SPDX-License-Identifier: Apache-2.0
// kv-plan import FILE: a model file becomes a catalog entry, or a table of its tensors.
#include "catalog/gguf.h"
#include "catalog/model_entry.h"
#include "catalog/model_path.h"
#include "catalog/safetensors.h"
#include "catalog/yaml_writer.h"
#include "cli/answer.h"
#include "report/notes.h"
#include "report/tensors.h"

namespace kvplan {
namespace {

TensorTable tensors_of(const ModelPath& found) {
  if (found.kind == ModelPath::gguf) return read_gguf_tensors(found.path);
  if (found.kind == ModelPath::safetensors) return read_safetensors_tensors(found.path);
  throw Error("this file lists no tensors")
      .in(found.path)
      .advise("Name a .gguf, a .safetensors file or index, or the folder of a checkpoint.");
}

TensorLine line_of(const TensorGroup& g) {
  constexpr const char* kParts[] = {"main", "mtp", "vision"};
  return {kParts[g.section],
          g.role ? std::string(name_of(*g.role)) : "unknown",
          std::string(g.format->name),
          g.tensors,
          g.parameters,
          g.stored_elements,
          g.bytes};
}

}  // namespace

Imported imported(const Request& request) {
  if (request.format)
    throw Error("a catalog entry is YAML")
        .of("--format")
        .advise("Leave it out, or ask for --tensors.");
  ModelEntry entry = model_entry(request.file);
  return {to_yaml(entry.file), std::move(entry.warnings)};
}

Answer answer_tensors(const Request& request) {
  const ModelPath found = model_path(request.file);
  const TensorTable table = tensors_of(found);
  TensorLines lines;
  TensorLine sum{"", "", "", 0, 0, 0, {}};
  for (const TensorGroup& group : group_tensors(table)) {
    lines.groups.push_back(line_of(group));
    const TensorLine& line = lines.groups.back();
    sum.tensors += line.tensors;
    sum.parameters = checked_add(sum.parameters, line.parameters);
    sum.stored_elements = checked_add(sum.stored_elements, line.stored_elements);
    sum.bytes += line.bytes;
  }
  lines.total = sum;
  Document document = tensors_document(found.name, found.path, lines);
  document.body.emplace_back("warnings", value(table.warnings));
  return {std::move(document), 0, table.warnings};
}

}  // namespace kvplan
