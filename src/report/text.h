// SPDX-License-Identifier: Apache-2.0
// Text of unknown origin, made safe and fitted to a terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan {

// Valid UTF-8 without control characters: a faulty byte becomes U+FFFD, a control character a
// space. No name in a model file can then move a cursor or break a document.
std::string clean(std::string_view);
// Columns that a terminal gives to valid UTF-8: wide (East Asian, emoji) 2, combining 0, else 1.
std::size_t display_width(std::string_view);
// `text` padded with spaces to `width` columns; longer text stays as it is.
std::string padded(std::string_view text, std::size_t width, bool to_the_right = false);
// Lines of at most `width` columns, broken at spaces, a longer word where it must be. At least one
// line; newlines in `text` break lines too.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace kvplan
