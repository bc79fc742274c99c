// SPDX-License-Identifier: Apache-2.0
// Parse, call, one catch, exit code.
#include <cstdio>
#include <exception>

#include "cli/refusal.h"
#include "cli/run.h"
#include "error.h"

int main(int argc, char** argv) {
  try {
    return kvplan::run(argc, argv);
  } catch (const kvplan::Error& e) {
    std::fputs(kvplan::refusal_text(e).c_str(), stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("kv-plan: out of memory\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(
        stderr,
        "kv-plan: internal error: %s\n  Please report this with the command line that led to it.\n",
        e.what());
  }
  return 2;
}
