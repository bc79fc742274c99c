// SPDX-License-Identifier: Apache-2.0
// A place to continue: one stack per emulated thread. Without sanitizers a switch is a longjmp,
// which costs no system call; sanitizers understand swapcontext, and ThreadSanitizer is told of it.
#pragma once
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__SANITIZE_THREAD__)
extern "C" {
void* __tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void*);
void* __tsan_get_current_fiber();
void __tsan_switch_to_fiber(void*, unsigned);
}
#endif

namespace kvplan::emulation {

class Context {
 public:
  Context() = default;  // of the caller
  explicit Context(void (*entry)()) {
    stack_ = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack_ == MAP_FAILED) throw std::bad_alloc();
#if defined(__SANITIZE_ADDRESS__)
    bottom_ = stack_;
    size_ = kStack;
#endif
    getcontext(&place_);
    place_.uc_stack.ss_sp = stack_;
    place_.uc_stack.ss_size = kStack;
    place_.uc_link = nullptr;
    makecontext(&place_, entry, 0);
#if defined(__SANITIZE_THREAD__)
    fiber_ = __tsan_create_fiber(0);
#endif
  }
  ~Context() {
    if (!stack_) return;
    munmap(stack_, kStack);
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(fiber_);
#endif
  }
  Context(const Context&) = delete;  // owns the stack
  Context& operator=(const Context&) = delete;

  // Leaves this place, continues at `next`, and returns when somebody switches back.
  [[gnu::no_sanitize("thread")]] void switch_to(Context& next) {
#if defined(__SANITIZE_THREAD__)
    if (!stack_) fiber_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(next.fiber_, 0);
    swapcontext(&place_, &next.place_);
#elif defined(__SANITIZE_ADDRESS__)
    came_from = this;
    __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.size_);
    swapcontext(&place_, &next.place_);
    arrived();
#else
    if (_setjmp(jump_) != 0) return;
    if (next.stack_ && !next.started_) {
      next.started_ = true;
      setcontext(&next.place_);
    }
    _longjmp(next.jump_, 1);
#endif
  }
  // To be called first by what `entry` runs: where the caller's stack lies is known only now.
  void arrived() {
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &size);
    if (came_from->stack_) return;
    came_from->bottom_ = bottom;
    came_from->size_ = size;
#endif
  }

 private:
#if defined(__SANITIZE_ADDRESS__)
  static inline thread_local Context* came_from = nullptr;
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
#endif
  static constexpr std::size_t kStack = 256 << 10;
  ucontext_t place_ = {};
  jmp_buf jump_ = {};
  void* stack_ = nullptr;
  [[maybe_unused]] bool started_ = false;
  [[maybe_unused]] void* fiber_ = nullptr;
};

}  // namespace kvplan::emulation
