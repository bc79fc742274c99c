// SPDX-License-Identifier: Apache-2.0
// Who last wrote and read each word of shared memory, and after which barriers. An access that no
// barrier orders after a conflicting one is a race, even if the emulated order hides it.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvplan::emulation {

// A thread at a moment: barriers of the block and of the warp that have completed.
struct Moment {
  int thread = -1;  // -1: never
  unsigned block_epoch = 0, warp_epoch = 0;

  int warp() const { return thread / 32; }
  // Whether what `earlier` did is seen now.
  bool after(const Moment& earlier) const {
    if (earlier.thread < 0 || earlier.thread == thread) return true;
    if (earlier.block_epoch != block_epoch) return true;
    return earlier.warp() == warp() && earlier.warp_epoch != warp_epoch;
  }
};

class Shadow {
 public:
  Shadow(const std::byte* base, std::size_t bytes) : base_(base), words_((bytes + 3) / 4) {}

  void read(const void* from, std::size_t bytes, const Moment& now) {
    each(from, bytes, [&](Word& word) {
      if (word.in_flight)
        fail("read of an asynchronous copy that was not waited for", word.write, now);
      if (!now.after(word.write)) fail("read without a barrier after the write", word.write, now);
      // Three readers stand for all: a write that races with any races with one of them.
      if (now.after(word.first_read))
        word.first_read = now;
      else if (now.warp() != word.first_read.warp())
        word.other_warp = now;
      word.last_read = now;
    });
  }
  void write(const void* to, std::size_t bytes, const Moment& now) {
    each(to, bytes, [&](Word& word) {
      if (word.in_flight) fail("write over an asynchronous copy in flight", word.write, now);
      check_free(word, now);
      word.write = now;
    });
  }
  // An asynchronous copy may write at any moment from here to its completion.
  void issue(const void* to, std::size_t bytes, const Moment& now) {
    each(to, bytes, [&](Word& word) {
      if (word.in_flight) fail("two asynchronous copies to one place", word.write, now);
      check_free(word, now);
      word.write = now;
      word.in_flight = true;
    });
  }
  void complete(const void* to, std::size_t bytes, const Moment& now) {
    each(to, bytes, [&](Word& word) {
      word.write = now;
      word.in_flight = false;
    });
  }

 private:
  struct Word {
    Moment write, first_read, last_read, other_warp;
    bool in_flight = false;
  };

  template <class F>
  void each(const void* at, std::size_t bytes, F f) {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(at) - base_);
    if (offset / 4 + (bytes + 3) / 4 > words_.size())
      throw std::runtime_error("shared memory out of bounds");
    for (std::size_t i = offset / 4; i < (offset + bytes + 3) / 4; ++i) f(words_[i]);
  }
  static void check_free(const Word& word, const Moment& now) {
    if (!now.after(word.write)) fail("write without a barrier after a write", word.write, now);
    for (const Moment& read : {word.first_read, word.last_read, word.other_warp})
      if (!now.after(read)) fail("write without a barrier after a read", read, now);
  }
  [[noreturn]] static void fail(const std::string& what, const Moment& then, const Moment& now) {
    throw std::runtime_error("race in shared memory: " + what + ", threads " +
                             std::to_string(then.thread) + " and " + std::to_string(now.thread));
  }

  const std::byte* base_;
  std::vector<Word> words_;
};

}  // namespace kvplan::emulation
