// SPDX-License-Identifier: Apache-2.0
// What is at the other end of a stream.
#pragma once
#include <cstdio>

namespace kvplan {

bool is_terminal(std::FILE*);
// A terminal that is not dumb, and NO_COLOR (no-color.org) is not set.
bool wants_colour(std::FILE*);
// Columns of the terminal at `stream`, or `otherwise` where there is none or it does not say.
int width_of(std::FILE*, int otherwise = 100);

}  // namespace kvplan
