// SPDX-License-Identifier: Apache-2.0
#include "word_list.h"

#include <doctest/doctest.h>

TEST_CASE("a word is found whole, wherever it stands, and never as a part of another") {
  using kvplan::has_word;
  CHECK(has_word("gpt2 gpt_neox phi", "gpt2"));
  CHECK(has_word("gpt2 gpt_neox phi", "gpt_neox"));
  CHECK(has_word("gpt2 gpt_neox phi", "phi"));
  CHECK_FALSE(has_word("gpt2 gpt_neox phi3", "phi"));
  CHECK_FALSE(has_word("my_phi phi3", "phi"));
  CHECK(has_word("phi3 phi", "phi"));  // the second match counts
  CHECK_FALSE(has_word("", "phi"));
}
