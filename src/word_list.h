// SPDX-License-Identifier: Apache-2.0
// Tables name several words in one text: "gpt2 gpt_neox phi".
#pragma once
#include <string_view>

namespace kvplan {

// Whether `word` is one of the words, which a space parts.
inline bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

}  // namespace kvplan
