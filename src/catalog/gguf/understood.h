// SPDX-License-Identifier: Apache-2.0
// Which GGUF keys are renamed, which may go unread, and what is done about the others.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "error.h"

namespace kvplan::gguf {

struct Rename {
  std::string_view gguf, huggingface;
  std::string_view reads_as = {};  // only this family's reader knows it
};
std::span<const Rename> renamed_keys();

// Whether a key that nobody read may go unread: it bears on weights alone, which are counted from
// the tensors, or on neither memory nor speed.
bool is_irrelevant(std::string_view key);
// Keys that nobody read: nothing where they are irrelevant; a warning where nothing suggests that
// they matter; Error naming the key otherwise.
void account_for(const std::vector<std::string>& unread, const std::string& architecture,
                 std::vector<Warning>&);

}  // namespace kvplan::gguf
