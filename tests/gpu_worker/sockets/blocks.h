// Runs programs that use sockets of kernels: as a kernel with so many blocks, or by so many threads
// of the CPU. A program is a plain value with
//   static constexpr uint32_t kLanes;      threads of a block on a GPU
//   void RunBlock(uint32_t block) const;   by all lanes of the block, TAPEDECK_ANYWHERE
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace tapedeck::gpu_worker::sockets {

// Rooms: cuda/blocks.cu with a file for each set of programs, and cuda/absent.cc in a build without
// CUDA. Errors as text; empty: none.

// Loads the kernel: the driver does that at a first launch otherwise, and may wait for a kernel
// that runs until it is told to stop.
template <typename Program>
std::string LoadOnGpu();
struct GpuRun;
// Does not wait. `run` is for JoinGpu, once.
template <typename Program>
std::string StartOnGpu(const Program& program, uint32_t blocks, GpuRun** run);
// Ends the process, and says so, where the kernel has not ended after kMostRunSeconds: nothing else
// ends one, and all that frees memory of the device would wait for it.
std::string JoinGpu(GpuRun* run);
inline constexpr int kMostRunSeconds = 240;

// A run; its end waits for all blocks, which must therefore end by themselves or have been stopped.
class Blocks {
 public:
  template <typename Program>
  Blocks(bool on_gpu, const Program& program, uint32_t blocks) {
    if (on_gpu) {
      error_ = StartOnGpu(program, blocks, &run_);
      return;
    }
    for (uint32_t i = 0; i < blocks; ++i) {
      threads_.emplace_back([program, i] { program.RunBlock(i); });
    }
  }
  ~Blocks() { Join(); }

  // The error of the run.
  std::string Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    if (run_ != nullptr) error_ = JoinGpu(run_);
    run_ = nullptr;
    return error_;
  }

 private:
  std::vector<std::thread> threads_;
  GpuRun* run_ = nullptr;
  std::string error_;
};

}  // namespace tapedeck::gpu_worker::sockets
