// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime as a Gpu. Linked statically, so that the program starts without a driver.
#include "kernels/cuda/device.h"

#include <cuda_runtime.h>

#include <cctype>
#include <string>

#include "kernels/cuda/clock.h"
#include "kernels/cuda/cublaslt.h"

namespace kvplan {
namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next call reports it again
  throw Error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status))
      .advise("If other programs use the GPU, end them and run again.");
}

// Streams, events and graphs are released by the function that made them possible.
template <class Handle, cudaError_t (*kDestroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (handle_) kDestroy(handle_);
  }
  Owned(const Owned&) = delete;  // owns the handle
  Owned& operator=(const Owned&) = delete;
  Handle* operator&() { return &handle_; }  // to be filled
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using Executable = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "device attribute");
  return value;
}

// "NVIDIA H100 80GB HBM3" → "nvidia-h100-80gb-hbm3".
std::string canonical(const std::string& title) {
  std::string name;
  for (const char c : title)
    name += std::isalnum(static_cast<unsigned char>(c))
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '-';
  return name;
}

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

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(int device) : device_(device) {
    select();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
  }

  DeviceSpec spec() const override;
  GpuLimits limits() const override;
  std::optional<Hertz> clock() override {
    if (!clock_) clock_.emplace(bus());
    return clock_->now();
  }
  std::vector<std::string> missing() const override {
    if (!blas_sought_ || blas_) return {};
    return {"cuBLASLt (libcublasLt.so." + std::to_string(kMajor) +
            "): products with more than 16 rows are not measured"};
  }

  std::byte* allocate(Bytes size) override {
    select();
    void* at = nullptr;
    check(cudaMalloc(&at, static_cast<std::size_t>(size.n)), "memory");
    return static_cast<std::byte*>(at);
  }
  void free(std::byte* at) noexcept override { cudaFree(at); }
  void upload(std::byte* to, std::span<const std::byte> from) override {
    select();
    check(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_), "copy");
    finish();
  }
  void download(std::span<std::byte> to, const std::byte* from) override {
    select();
    check(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream_), "copy");
    finish();
  }
  void copy(std::byte* to, const std::byte* from, Bytes size) override {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size.n), cudaMemcpyDeviceToDevice,
                          stream_),
          "copy");
  }
  void set(std::byte* to, std::byte value, Bytes size) override {
    check(
        cudaMemsetAsync(to, std::to_integer<int>(value), static_cast<std::size_t>(size.n), stream_),
        "memory");
  }

  int resident_blocks(const Kernel& kernel) override {
    select();
    allow_shared_memory(kernel);
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, address(kernel), kernel.threads,
              static_cast<std::size_t>(kernel.shared_bytes)),
          kernel.name);
    if (blocks == 0) throw Error(std::string("no block of '") + kernel.name + "' fits the device");
    return blocks;
  }
  void launch(const Kernel& kernel, Grid grid, const void* args) override {
    select();
    allow_shared_memory(kernel);
    void* arguments[] = {const_cast<void*>(args)};
    check(cudaLaunchKernel(address(kernel), dim3(grid.x, grid.y, grid.z),
                           dim3(static_cast<unsigned>(kernel.threads)), arguments,
                           static_cast<std::size_t>(kernel.shared_bytes), stream_),
          kernel.name);
  }
  std::unique_ptr<GemmPlan> gemm(const GemmSpec& spec) override {
    select();
    if (!blas_sought_) blas_ = CublasLt::open(kMajor);
    blas_sought_ = true;
    if (!blas_) return nullptr;
    if (!workspace_) workspace_ = std::make_unique<GpuBuffer>(*this, Bytes(kWorkspace));
    return blas_->plan(spec, stream_, workspace_->data(), kWorkspace);
  }
  std::unique_ptr<Recording> record(const std::function<void()>& enqueue) override {
    return std::make_unique<CudaRecording>(stream_, enqueue);
  }
  void finish() override { check(cudaStreamSynchronize(stream_), "kernel"); }

 private:
  void select() const { check(cudaSetDevice(device_), "device"); }
  static const void* address(const Kernel& kernel) {
    return reinterpret_cast<const void*>(kernel.entry);
  }
  // More than 48 KiB must be asked for.
  static void allow_shared_memory(const Kernel& kernel) {
    check(cudaFuncSetAttribute(address(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(kernel.shared_bytes)),
          kernel.name);
  }

  std::string bus() const {
    char text[32] = "";
    check(cudaDeviceGetPCIBusId(text, sizeof(text), device_), "bus");
    return text;
  }

  static constexpr int kMajor = CUDART_VERSION / 1000;
  static constexpr std::size_t kWorkspace = 32u << 20;  // what cuBLAS itself takes on Hopper

  int device_;
  Stream stream_;
  std::optional<GpuClock> clock_;
  bool blas_sought_ = false;
  std::unique_ptr<CublasLt> blas_;
  std::unique_ptr<GpuBuffer> workspace_;
};

GpuLimits CudaGpu::limits() const {
  GpuLimits limits;
  limits.processors = attribute(cudaDevAttrMultiProcessorCount, device_);
  limits.capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device_) +
                      attribute(cudaDevAttrComputeCapabilityMinor, device_);
  limits.shared_per_block = Bytes(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device_));
  limits.last_level_cache = Bytes(attribute(cudaDevAttrL2CacheSize, device_));
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "memory");
  limits.free_memory = Bytes(static_cast<std::int64_t>(free));
  return limits;
}

DeviceSpec CudaGpu::spec() const {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device_), "device");
  const GpuLimits limit = limits();
  DeviceSpec spec;
  spec.title = properties.name;
  spec.name = canonical(spec.title);
  spec.vendor = "NVIDIA";
  spec.kind = "gpu";
  spec.compute_capability =
      std::to_string(limit.capability / 10) + "." + std::to_string(limit.capability % 10);
  spec.architecture = "sm_" + std::to_string(limit.capability);
  spec.processors = limit.processors;
  spec.memory = {Bytes(static_cast<std::int64_t>(properties.totalGlobalMem)), "CUDA driver"};
  spec.memory_marketed = spec.memory;
  spec.last_level_cache = Fact<Bytes>{limit.last_level_cache, "CUDA driver"};
  // Two transfers a clock; kHz and bits as the driver has them.
  const double rate = 2e3 * attribute(cudaDevAttrMemoryClockRate, device_) *
                      attribute(cudaDevAttrGlobalMemoryBusWidth, device_) / 8;
  if (rate > 0) spec.bandwidth = {BytesPerSecond(rate), "CUDA driver: memory clock x bus width"};
  return spec;
}

// Before a driver call succeeds, the count is not touched.
std::string why_no_device(cudaError_t status) {
  if (status == cudaErrorInsufficientDriver) return "no NVIDIA driver, or one that is too old";
  if (status == cudaErrorNoDevice || status == cudaSuccess) return "no NVIDIA GPU";
  return std::string("CUDA: ") + cudaGetErrorString(status);
}

}  // namespace

int cuda_device_count(std::string& why_none) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status != cudaSuccess) count = 0;
  if (count == 0) why_none = why_no_device(status);
  return count;
}

std::unique_ptr<Gpu> cuda_gpu(int device) { return std::make_unique<CudaGpu>(device); }

}  // namespace kvplan
