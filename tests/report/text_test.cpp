// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <doctest/doctest.h>

using namespace kvplan;

TEST_CASE("hostile bytes become harmless text") {
  CHECK(clean("plain ü 漢") == "plain ü 漢");
  CHECK(clean("a\x1b[2Jb\r\nc") == "a [2Jb  c");
  CHECK(
      clean("\xc0\xaf|\xed\xa0\x80|\xf5|\xe2\x82") ==  // overlong, surrogate, too large, cut short
      "\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD|\uFFFD|\uFFFD\uFFFD");
  CHECK(clean("x\u202Egnp") == "x gnp");  // right-to-left override
}

TEST_CASE("width counts columns, not bytes") {
  CHECK(display_width("µs") == 2);
  CHECK(display_width("漢字") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(padded("µs", 4) == "µs  ");
  CHECK(padded("µs", 4, true) == "  µs");
}

TEST_CASE("text wraps at spaces, and a word that is too long where it must") {
  using Lines = std::vector<std::string>;
  CHECK(wrapped("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrapped("abcdefgh ij", 3) == Lines{"abc", "def", "gh", "ij"});
  CHECK(wrapped("deepseek-r1-distill-llama-8b", 23) == Lines{"deepseek-r1-distill-", "llama-8b"});
  CHECK(wrapped("a-bcdefghij", 6) == Lines{"a-bcde", "fghij"});
  CHECK(wrapped("", 10) == Lines{""});
  CHECK(wrapped("a\nb", 10) == Lines{"a", "b"});
  CHECK(wrapped("漢字漢", 3) == Lines{"漢", "字", "漢"});
  CHECK(wrapped("ab", 0) == Lines{"a", "b"});
}
