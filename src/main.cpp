// SPDX-License-Identifier: Apache-2.0
// Parse, call, one catch, exit code.
#include <cstdio>

#include "error.h"

int main(int, char**) {
  std::fputs("kv-plan: not wired yet\n", stderr);
  return 2;
}
