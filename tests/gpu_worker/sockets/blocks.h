// Runs the programs of programs.h: as a kernel with so many blocks, or by so many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu_worker/sockets/programs.h"

namespace tapedeck::gpu_worker::sockets {

// Rooms: cuda/blocks.cu, and cuda/absent.cc in a build without CUDA. Errors as text; empty: none.

// Loads the kernel: the driver does that at a first launch otherwise, and may wait for a kernel
// that runs until it is told to stop.
std::string LoadOnGpu();
struct GpuRun;
// Does not wait. `run` is for JoinGpu, once.
std::string StartOnGpu(Program program, const Args& args, uint32_t blocks, GpuRun** run);
std::string JoinGpu(GpuRun* run);

// A run; its end waits for all blocks, which must therefore end by themselves or have been stopped.
class Blocks {
 public:
  Blocks(bool on_gpu, Program program, const Args& args, uint32_t blocks) {
    if (on_gpu) {
      error_ = StartOnGpu(program, args, blocks, &run_);
      return;
    }
    for (uint32_t i = 0; i < blocks; ++i) {
      Args own = args;
      own.results += i * kResults;
      own.buffers += i * kBufferBytes;
      threads_.emplace_back([program, own] { Run(program, own); });
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
