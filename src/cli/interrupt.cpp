// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <ctime>

namespace kvplan {
namespace {

sigset_t only_interrupt() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = only_interrupt();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

Interrupt::~Interrupt() {
  if (!asked()) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupt::asked() {
  if (asked_) return true;
  const sigset_t set = only_interrupt();
  const timespec at_once{0, 0};
  asked_ = sigtimedwait(&set, nullptr, &at_once) == SIGINT;
  if (asked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  return asked_;
}

}  // namespace kvplan
