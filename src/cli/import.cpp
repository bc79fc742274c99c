// SPDX-License-Identifier: Apache-2.0
// kv-plan import FILE: a config.json becomes a catalog entry that reads back to the same model.
#include <fmt/format.h>

#include <filesystem>

#include "catalog/files.h"
#include "catalog/huggingface.h"
#include "catalog/quoted.h"
#include "cli/answer.h"

namespace kvplan {
namespace {

// Flow style, which YAML shares with JSON; strings stay quoted so that they read back as strings.
std::string flow(const Node& node) {
  switch (node.kind) {
    case Node::null:
      return "null";
    case Node::scalar:
      return node.quoted ? in_quotes(node.text) : node.text;
    case Node::list: {
      std::string out = "[";
      for (const Node& item : node.items) out += (out.size() > 1 ? ", " : "") + flow(item);
      return out + "]";
    }
    case Node::map: {
      std::string out = "{";
      for (const auto& [key, item] : node.members)
        out += (out.size() > 1 ? ", " : "") + in_quotes(key) + ": " + flow(item);
      return out + "}";
    }
  }
  return "null";
}

}  // namespace

std::string imported(const Request& request) {
  namespace fs = std::filesystem;
  const fs::path given(request.file);
  const fs::path path = fs::is_directory(given) ? given / "config.json" : given;
  if (path.extension() != ".json")
    throw Error("import reads config.json")
        .in(request.file)
        .advise("GGUF and safetensors files are read as they are: name them in place of a model.");
  const Node config = read_tree(path.string());
  (void)read_huggingface(config);  // refused here rather than when it is used
  const std::string name = fs::absolute(path).parent_path().filename().string();
  std::string out = fmt::format("name: {}\nsource: {}\nconfig:\n", in_quotes(name),
                                in_quotes("imported from config.json"));
  for (const auto& [key, item] : config.members)
    out += fmt::format("  {}: {}\n", in_quotes(key), flow(item));
  return out;
}

}  // namespace kvplan
