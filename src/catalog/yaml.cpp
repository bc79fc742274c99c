// SPDX-License-Identifier: Apache-2.0
// YAML text → Node, through yaml-cpp's event parser (its own tree recurses without end on `a: &a
// [*a]`).
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <streambuf>

#include "catalog/builder.h"
#include "error.h"

namespace kvplan {
namespace {

class Events : public YAML::EventHandler {
 public:
  NodeBuilder builder;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse(mark, anchor);
    if (builder.expects_key()) throw Error("a key is empty").at_line(mark.line + 1);
    builder.null(mark.line + 1);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { refuse(mark, anchor + 1); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse(mark, anchor);
    if (builder.expects_key()) return builder.key(value, mark.line + 1);
    const bool quoted = tag == "!";  // yaml-cpp's tag of quoted and block scalars
    if (!quoted && (value == "null" || value == "~" || value.empty()))
      return builder.null(mark.line + 1);
    builder.scalar(value, quoted, mark.line + 1);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(Node::list, mark, anchor);
  }
  void OnSequenceEnd() override { builder.close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(Node::map, mark, anchor);
  }
  void OnMapEnd() override { builder.close(); }

 private:
  void start(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    refuse(mark, anchor);
    if (builder.expects_key()) throw Error("a key must be a word").at_line(mark.line + 1);
    builder.open(kind, mark.line + 1);
  }
  static void refuse(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == 0) return;
    throw Error("YAML anchors and aliases are not allowed")
        .at_line(mark.line + 1)
        .advise("Write the value out.");
  }
};

struct ViewBuffer : std::streambuf {
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace

Node parse_yaml(std::string_view text) {
  if (text.size() > kMostTextBytes) throw Error("the text is larger than 64 MiB");
  ViewBuffer buffer(text);
  std::istream in(&buffer);
  Events events;
  try {
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(events)) throw Error("the text is empty");
  } catch (const YAML::Exception& e) {
    throw Error("not valid YAML: " + e.msg).at_line(e.mark.line + 1);
  }
  return events.builder.finish();
}

}  // namespace kvplan
