#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/gpu_worker/sockets/cuda/launch.cuh"

namespace tapedeck::gpu_worker::sockets {

std::string JoinGpu(GpuRun* run) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kMostRunSeconds);
  cudaError_t state = cudaErrorNotReady;
  while ((state = cudaStreamQuery(run->stream)) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() > deadline) {
      std::fprintf(stderr, "a kernel has not ended in %d s\n", kMostRunSeconds);
      std::abort();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  cudaStreamDestroy(run->stream);
  delete run;
  return TextOf(state, "cudaStreamQuery");
}

}  // namespace tapedeck::gpu_worker::sockets
