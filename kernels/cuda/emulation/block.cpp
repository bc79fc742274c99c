// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/emulation/block.h"

#include <algorithm>

namespace kvplan::emulation {

Block::Block(Grid grid_size, int threads, std::int64_t shared_bytes, Settings& with,
             std::function<void()> body)
    : grid(grid_size),
      settings(with),
      body_(std::move(body)),
      warps_(static_cast<std::size_t>(threads / 32)),
      shared_bytes_(static_cast<std::size_t>(shared_bytes + 15) / 16 * 16) {
  if (threads % 32 != 0) throw std::runtime_error("a block is whole warps");
  for (int i = 0; i < threads; ++i) threads_.emplace_back(&thread_main).index = i;
}

void Block::run(Grid at) {
  index = at;
  shared_.reset();
  if (shared_bytes_) {
    shared_.reset(
        static_cast<std::byte*>(std::aligned_alloc(128, (shared_bytes_ + 127) / 128 * 128)));
    std::memset(shared_.get(), 0xff, shared_bytes_);  // NaN in every format
  }
  shadow_ = std::make_unique<Shadow>(shared_.get(), shared_bytes_);
  for (Thread& thread : threads_) thread.done = false;
  current_ = settings.descending ? 0 : threads_.size() - 1;
  block = this;
  self = next_alive();
  caller_.switch_to(self->context);
  block = nullptr;
  if (!error_.empty()) throw std::runtime_error(error_);
}

void Block::thread_main() {
  block->self->context.arrived();
  for (;;) {
    Thread& me = *block->self;
    try {
      block->body_();
      if (!me.copies.empty()) throw std::runtime_error("a thread ends with copies in flight");
    } catch (const Stopped&) {
    } catch (const std::exception& e) {
      if (block->error_.empty()) block->error_ = e.what();
    }
    me.done = true;
    me.copies.clear();
    me.groups.clear();
    ++block->events_;
    Block& here = *block;
    here.self = here.next_alive();
    me.context.switch_to(here.self ? here.self->context : here.caller_);
  }
}

Thread* Block::next_alive() {
  const std::size_t step = settings.descending ? threads_.size() - 1 : 1;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    current_ = (current_ + step) % threads_.size();
    if (!threads_[current_].done) return &threads_[current_];
  }
  return nullptr;
}

void Block::give_way() {
  if (error_.empty()) {
    if (events_ != seen_events_) {
      seen_events_ = events_;
      idle_switches_ = 0;
    } else if (++idle_switches_ > 2 * threads_.size() + 4) {
      error_ = deadlock();
    }
  }
  if (!error_.empty()) throw Stopped{};
  Thread* me = self;
  self = next_alive();
  if (self != me) me->context.switch_to(self->context);
  if (!error_.empty()) throw Stopped{};
}

std::string Block::deadlock() const {
  std::string text = "deadlock: thread " + std::to_string(self->index) + " waits in " +
                     self->waits_in + " at " + self->site.text();
  const auto other = std::find_if(threads_.begin(), threads_.end(), [&](const Thread& t) {
    return t.done || !(t.site == self->site);
  });
  if (other == threads_.end()) return text;
  return text + ", thread " + std::to_string(other->index) +
         (other->done ? " has ended" : " waits at " + other->site.text());
}

bool Block::skipped(Site site) const {
  std::vector<std::string>& seen = settings.barriers;
  auto at = std::find(seen.begin(), seen.end(), site.text());
  if (at == seen.end()) at = seen.insert(at, site.text());
  return settings.faults.barrier == static_cast<int>(at - seen.begin());
}

void Block::block_barrier(Site site) {
  if (!skipped(site))
    meet(meeting_, static_cast<int>(threads_.size()), "block_barrier", site, [&] { ++epoch_; });
}

void Block::warp_barrier(Site site) {
  if (!skipped(site)) meet(warp().meeting, 32, "warp_barrier", site, [&] { ++warp().epoch; });
}

void launch(Grid grid, int threads, std::int64_t shared_bytes, Settings& settings,
            const std::function<void()>& body) {
  Block one(grid, threads, shared_bytes, settings, body);
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) one.run({x, y, z});
}

}  // namespace kvplan::emulation
