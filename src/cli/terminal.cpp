// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace kvplan {

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool wants_colour(std::FILE* stream) {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return is_terminal(stream) && !(refused && *refused) && terminal &&
         std::string_view(terminal) != "dumb";
}

int width_of(std::FILE* stream, int otherwise) {
  winsize size{};
  const bool known = is_terminal(stream) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : otherwise;
}

}  // namespace kvplan
