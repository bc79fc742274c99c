// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/recording.h"

#include "kernels/cuda/runtime.h"

namespace kvplan {
namespace {

class CudaRecording : public Recording {
 public:
  CudaRecording(cudaStream_t stream, const std::function<void()>& enqueue) : stream_(stream) {
    check(cudaEventCreate(&start_), "event");
    check(cudaEventCreate(&end_), "event");
    Graph graph;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "graph");
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "graph");
    check(cudaGraphInstantiate(&executable_, graph, 0), "graph");
  }

  Seconds play() override {
    check(cudaEventRecord(start_, stream_), "event");
    check(cudaGraphLaunch(executable_, stream_), "graph launch");
    check(cudaEventRecord(end_, stream_), "event");
    check(cudaEventSynchronize(end_), "kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, end_), "event");
    return Seconds(static_cast<double>(milliseconds) / 1e3);
  }

 private:
  cudaStream_t stream_;
  Event start_, end_;
  Executable executable_;
};

}  // namespace

std::unique_ptr<Recording> cuda_recording(cudaStream_t stream,
                                          const std::function<void()>& enqueue) {
  return std::make_unique<CudaRecording>(stream, enqueue);
}

}  // namespace kvplan
