// SPDX-License-Identifier: Apache-2.0
#include "cli/refusal.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace kvplan;

TEST_CASE("a refusal says where, what, and what to do") {
  CHECK(refusal_text(Error("is no number")
                         .in("config.json")
                         .at_line(12)
                         .of("hidden_size")
                         .advise("Give one.")) ==
        "kv-plan: config.json:12: hidden_size: is no number\n  Give one.\n");
  CHECK(refusal_text(Error("is damaged").in("m.gguf").at_offset(24)) ==
        "kv-plan: m.gguf: is damaged (at byte 24)\n");
}

// A tensor called "\x1b[2J" clears the screen of whoever reads the complaint about it.
TEST_CASE("no name in a file can move a terminal's cursor, nor begin a line of its own") {
  const Error e = Error("tensor '\x1b[2J\nkv-plan: all is well' stands twice").of("a\rb");
  CHECK(refusal_text(e) == "kv-plan: a b: tensor ' [2J kv-plan: all is well' stands twice\n");
  CHECK(warning_text({"code", "key '\x1b]0;\a' was not used"}) ==
        "kv-plan: warning: key ' ]0; ' was not used\n");
}

TEST_CASE("of very many warnings the first are printed, and how many more there are") {
  const std::string text = warnings_text(std::vector<Warning>(10'000, {"code", "a"}));
  CHECK(text.starts_with("kv-plan: warning: a\n"));
  CHECK(text.ends_with("kv-plan: 9980 more warnings; --format json has all\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 21);
}
