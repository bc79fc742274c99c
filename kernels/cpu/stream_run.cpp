// SPDX-License-Identifier: Apache-2.0
// Streams of memory, each in several variants.
#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/cpu/best_of_run.h"
#include "kernels/cpu/stream.h"

namespace kvplan {
namespace {

constexpr std::int64_t kGrain = 4096;  // shares are whole multiples of this

class StreamRun : public BestOfRun {
 public:
  StreamRun(const CpuContext& context, Bytes bytes, int streams)
      : BestOfRun(context),
        share_(bytes.n / context.team.size() / kGrain * kGrain),
        streams_(streams),
        place_(context.arena, Bytes(share_ * streams)) {
    if (share_ == 0) throw Error("a stream needs at least 4 KiB per thread");
  }

  Work work() const override {
    Work work;
    work.distinct = work.moved = Bytes(share_) * context_.team.size() * streams_;
    work.op = streams_ == 1 ? OperatorClass::stream_read : OperatorClass::stream_copy;
    return work;
  }

  double error() override {
    double wrong = 0;
    for (Variant& variant : variants_) {
      pass(variant);
      for (int t = 0; t < context_.team.size(); ++t) wrong += !correct(t);
    }
    return 2 * wrong;  // nothing about a stream may be off
  }

 protected:
  void advance() override { place_.advance(); }
  virtual bool correct(int thread) const = 0;

  std::int64_t share_, streams_;  // bytes of one stream of one thread; streams of a thread
  Place place_;
};

class ReadRun : public StreamRun {
 public:
  ReadRun(const CpuContext& context, Bytes bytes)
      : StreamRun(context, bytes, 1), sums_(static_cast<std::size_t>(context.team.size())) {
    for (const ReadKernel& kernel : read_kernels())
      if (kernel.isa <= context.isa)
        variants_.push_back({std::string(kernel.name), [this, read = kernel.read](int t) {
                               sums_[t] = read(place_.of(t), share_);
                             }});
  }

 private:
  bool correct(int t) const override {
    return sums_[t] == read_kernels().front().read(place_.of(t), share_);
  }
  std::vector<std::uint64_t> sums_;
};

// From the first half of a slot to the second.
class CopyRun : public StreamRun {
 public:
  CopyRun(const CpuContext& context, Bytes bytes) : StreamRun(context, bytes, 2) {
    for (const CopyKernel& kernel : copy_kernels())
      if (kernel.isa <= context.isa)
        variants_.push_back({std::string(kernel.name), [this, copy = kernel.copy](int t) {
                               copy(place_.of(t) + share_, place_.of(t), share_);
                             }});
  }

 private:
  bool correct(int t) const override {
    return std::memcmp(place_.of(t) + share_, place_.of(t), share_) == 0;
  }
};

// What it costs to start the team and to wait for it.
class LaunchRun : public CpuRun {
 public:
  using CpuRun::CpuRun;
  Work work() const override { return {}; }
  double error() override { return 0; }
  void place() override {}
  void work_on(int) override {}
};

}  // namespace

std::unique_ptr<CpuRun> stream_run(const CpuContext& context, const StreamShape& shape) {
  if (shape.copy) return std::make_unique<CopyRun>(context, shape.bytes);
  return std::make_unique<ReadRun>(context, shape.bytes);
}

std::unique_ptr<CpuRun> launch_run(const CpuContext& context) {
  return std::make_unique<LaunchRun>(context);
}

}  // namespace kvplan
