// SPDX-License-Identifier: Apache-2.0
// Build-time program: configs/ → one C++ source that holds every file and the index of names.
// Files become JSON, which is read ten times as fast: an answer that took 12 ms spent half of them
// in reading YAML.
//   embed CONFIGS_FOLDER OUTPUT.cpp
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "catalog/names.h"
#include "error.h"

namespace fs = std::filesystem;
using kvplan::Error;
using kvplan::IndexedName;

namespace {

struct File {
  std::string kind, path, name, text;
};
struct Name {
  std::string kind;
  IndexedName name;
  std::size_t file;
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw Error("cannot be read").in(path.string());
  return text;
}

std::vector<File> files_in(const fs::path& root) {
  std::vector<File> files;
  for (const auto& kind : fs::directory_iterator(root)) {
    if (!kind.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(kind.path()))
      if (entry.path().extension() == ".yaml")
        files.push_back({kind.path().filename().string(), fs::relative(entry.path(), root).string(),
                         "", text_of(entry.path())});
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + "\"";
}

std::string json_of(const kvplan::Node& node) {
  using kvplan::Node;
  static const std::regex plain(R"(true|false|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)");
  if (node.kind == Node::null) return "null";
  if (node.kind == Node::scalar)
    return !node.quoted && std::regex_match(node.text, plain) ? node.text : quoted(node.text);
  std::string out;
  for (const Node& item : node.items) out += (out.empty() ? "" : ",") + json_of(item);
  for (const auto& [key, value] : node.members)
    out += (out.empty() ? "" : ",") + quoted(key) + ":" + json_of(value);
  return node.kind == Node::list ? "[" + out + "]" : "{" + out + "}";
}

// Replaces each text by its JSON, too.
std::vector<Name> index_of(std::vector<File>& files) {
  std::vector<Name> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    try {
      const kvplan::Node tree = kvplan::parse_yaml(files[i].text);
      files[i].text = json_of(tree);
      for (IndexedName& n : kvplan::names_in(tree)) {
        if (n.use == IndexedName::name) files[i].name = n.written;
        names.push_back({files[i].kind, std::move(n), i});
      }
    } catch (Error& e) {
      throw e.in(files[i].path);
    }
  }
  const auto key = [](const Name& n) { return std::pair(n.kind, n.name.key); };
  std::sort(names.begin(), names.end(),
            [&](const Name& a, const Name& b) { return key(a) < key(b); });
  const auto same = [&](const Name& a, const Name& b) { return key(a) == key(b); };
  if (const auto twice = std::adjacent_find(names.begin(), names.end(), same); twice != names.end())
    throw Error("the name '" + twice->name.written + "' stands in " + files[twice->file].path +
                " and in " + files[std::next(twice)->file].path);
  return names;
}

void write(std::ostream& out, const std::vector<File>& files, const std::vector<Name>& names) {
  out << "// Generated from configs/ by embed.cpp.\n#include \"catalog/embedded.h\"\n\n"
         "namespace kvplan {\nnamespace {\n\nconstexpr EmbeddedFile kFiles[] = {\n";
  for (const File& f : files)
    // With its length: counting half a million characters is more than clang's constexpr allows.
    out << "{" << quoted(f.kind) << ", " << quoted(f.path) << ", " << quoted(f.name)
        << ", {R\"kvplan(" << f.text << ")kvplan\", " << f.text.size() << "}},\n";
  out << "};\n\nconstexpr EmbeddedName kNames[] = {\n";
  const char* uses[] = {"name", "alias", "family", "instance"};
  for (const Name& n : names)
    out << "{" << quoted(n.kind) << ", " << quoted(n.name.key) << ", " << quoted(n.name.written)
        << ", IndexedName::" << uses[n.name.use] << ", " << quoted(n.name.marketed) << ", "
        << n.name.count << ", " << n.name.implied << ", " << n.file << "},\n";
  out << "};\n\n}  // namespace\n\n"
         "std::span<const EmbeddedFile> embedded_files() { return kFiles; }\n"
         "std::span<const EmbeddedName> embedded_names() { return kNames; }\n\n"
         "}  // namespace kvplan\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: embed CONFIGS_FOLDER OUTPUT.cpp\n", stderr), 2;
  try {
    std::vector<File> files = files_in(argv[1]);
    const std::vector<Name> names = index_of(files);
    std::ofstream out(argv[2], std::ios::binary);
    write(out, files, names);
    if (!out.flush()) throw Error("cannot be written").in(argv[2]);
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s:%d: %s %s\n", e.file.c_str(), e.line, e.key.c_str(), e.what());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  return 1;
}
