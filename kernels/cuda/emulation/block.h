// SPDX-License-Identifier: Apache-2.0
// A thread block on the CPU: one fiber per thread, switched only where threads meet. Divergent
// collectives and deadlocks are errors; what tests assert is counted.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/emulation/context.h"
#include "kernels/cuda/emulation/memory.h"
#include "kernels/cuda/emulation/shadow.h"
#include "kernels/cuda/kernel.h"

namespace kvplan::emulation {

// Where a collective stands in the source.
struct Site {
  const char* file = "";
  int line = 0;
  friend bool operator==(const Site& a, const Site& b) {
    return a.line == b.line && std::strcmp(a.file, b.file) == 0;
  }
  std::string text() const { return std::string(file) + ":" + std::to_string(line); }
};

struct Meeting {
  int arrived = 0;
  unsigned round = 0;
  const char* kind = "";
  Site site;
};

struct Copy {
  void* to;
  const void* from;
  bool valid;
};

struct Thread {
  explicit Thread(void (*entry)()) : context(entry) {}
  Context context;
  int index = 0;
  bool done = true;
  const char* waits_in = "";
  Site site;
  std::vector<Copy> copies;         // issued, not yet complete
  std::vector<std::size_t> groups;  // ends of committed groups in `copies`
};

struct Warp {
  Meeting meeting;
  unsigned epoch = 0;                  // barriers so far; shuffles order no memory
  std::uint64_t table[2][32][4] = {};  // what the lanes bring to a collective, of two rounds
  float product[2][16][8] = {};        // of matrices, likewise
};

class Block {
 public:
  Block(Grid grid_size, int threads, std::int64_t shared_bytes, Settings& with,
        std::function<void()> body);

  void run(Grid index);

  Moment now() const {
    return {self->index, epoch_, warps_[static_cast<std::size_t>(self->index / 32)].epoch};
  }
  Warp& warp() { return warps_[static_cast<std::size_t>(self->index / 32)]; }
  Shadow& shadow() { return *shadow_; }
  std::byte* shared() { return shared_.get(); }

  void block_barrier(Site);
  void warp_barrier(Site);
  // Every lane brings four words and gets the table of all lanes and its round; `complete` runs
  // once, when the last has come.
  template <class F>
  unsigned exchange(const std::uint64_t (&words)[4], const char* kind, Site site, F complete) {
    Warp& w = warp();
    const unsigned round = w.meeting.round & 1;
    std::memcpy(w.table[round][self->index % 32], words, sizeof(words));
    meet(w.meeting, 32, kind, site, [&] { complete(w, round); });
    return round;
  }

  Thread* self = nullptr;
  Grid index, grid;
  Settings& settings;

 private:
  struct Stopped {};  // another thread of the block failed
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };

  static void thread_main();
  template <class F>
  void meet(Meeting& meeting, int members, const char* kind, Site site, F complete) {
    if (meeting.arrived == 0) {
      meeting.kind = kind;
      meeting.site = site;
    } else if (!(meeting.site == site) || std::strcmp(meeting.kind, kind) != 0) {
      throw std::runtime_error("threads meet in different places: " + std::string(meeting.kind) +
                               " at " + meeting.site.text() + " and " + kind + " at " +
                               site.text());
    }
    ++events_;
    if (++meeting.arrived == members) {
      complete();
      meeting.arrived = 0;
      ++meeting.round;
      return;
    }
    self->waits_in = kind;
    self->site = site;
    for (const unsigned round = meeting.round; meeting.round == round;) give_way();
    self->waits_in = "";
  }
  void give_way();
  bool skipped(Site) const;
  Thread* next_alive();
  std::string deadlock() const;

  std::function<void()> body_;
  std::deque<Thread> threads_;
  std::vector<Warp> warps_;
  Meeting meeting_;
  unsigned epoch_ = 0;
  std::unique_ptr<std::byte, Free> shared_;
  std::size_t shared_bytes_;
  std::unique_ptr<Shadow> shadow_;
  Context caller_;
  std::size_t current_ = 0;
  std::uint64_t events_ = 0, seen_events_ = 0;  // arrivals and exits
  std::size_t idle_switches_ = 0;
  std::string error_;
};

inline thread_local Block* block = nullptr;  // that runs on this OS thread

// Runs all blocks of a launch in turn. Throws std::runtime_error with what went wrong first.
void launch(Grid grid, int threads, std::int64_t shared_bytes, Settings&,
            const std::function<void()>& body);

}  // namespace kvplan::emulation
