// SPDX-License-Identifier: Apache-2.0
// Parse, call, one catch, exit code.
#include <cstdio>
#include <exception>
#include <string>

#include "cli/run.h"
#include "error.h"

namespace {

// "kv-plan: config.json:12: num_attention_heads: what is wrong" and, on a line of its own, what to
// do.
void print(const kvplan::Error& e) {
  std::string text = "kv-plan: ";
  if (!e.file.empty()) text += e.file + (e.line > 0 ? ":" + std::to_string(e.line) : "") + ": ";
  if (e.file.empty() && e.line > 0) text += "line " + std::to_string(e.line) + ": ";
  if (!e.key.empty()) text += e.key + ": ";
  text += e.what();
  if (e.offset >= 0) text += " (at byte " + std::to_string(e.offset) + ")";
  if (!e.advice.empty()) text += "\n  " + e.advice;
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return kvplan::run(argc, argv);
  } catch (const kvplan::Error& e) {
    print(e);
  } catch (const std::bad_alloc&) {
    std::fputs("kv-plan: out of memory\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(
        stderr,
        "kv-plan: internal error: %s\n  Please report this with the command line that led to it.\n",
        e.what());
  }
  return 2;
}
