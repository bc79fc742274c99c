// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime as a Gpu. Linked statically, so that the program starts without a driver.
#include "kernels/cuda/device.h"

#include "kernels/cuda/clock.h"
#include "kernels/cuda/cublaslt.h"
#include "kernels/cuda/properties.h"
#include "kernels/cuda/recording.h"
#include "kernels/cuda/runtime.h"

namespace kvplan {
namespace {

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(int device) : device_(device) {
    select();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
  }

  DeviceSpec spec() const override { return cuda_spec(device_); }
  GpuLimits limits() const override { return cuda_limits(device_); }
  std::optional<Hertz> clock() override {
    if (!clock_) clock_.emplace(cuda_bus(device_));
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
    return cuda_recording(stream_, enqueue);
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

  static constexpr int kMajor = CUDART_VERSION / 1000;
  static constexpr std::size_t kWorkspace = 32u << 20;  // what cuBLAS itself takes on Hopper

  int device_;
  Stream stream_;
  std::optional<GpuClock> clock_;
  bool blas_sought_ = false;
  std::unique_ptr<CublasLt> blas_;
  std::unique_ptr<GpuBuffer> workspace_;
};

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
