// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as a question that long work may ask, instead of the end of the program. Once the answer
// was yes, another Ctrl-C does end it.
#pragma once
#include <csignal>

namespace kvplan {

class Interrupt {
 public:
  Interrupt();   // from here on Ctrl-C waits; threads that start later wait with it
  ~Interrupt();  // forgets it, and Ctrl-C ends the program again
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool asked();

 private:
  sigset_t before_;
  bool asked_ = false;
};

}  // namespace kvplan
