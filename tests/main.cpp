// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

// What whoever runs the tests calibrated, or put into their own catalog, must not decide them.
int main(int argc, char** argv) {
  setenv("XDG_DATA_HOME", "/nonexistent", 1);
  return doctest::Context(argc, argv).run();
}
