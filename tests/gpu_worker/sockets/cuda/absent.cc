#include "tests/gpu_worker/sockets/blocks.h"

namespace tapedeck::gpu_worker::sockets {

std::string LoadOnGpu() { return "built without CUDA"; }

std::string StartOnGpu(Program, const Args&, uint32_t, GpuRun**) { return LoadOnGpu(); }

std::string JoinGpu(GpuRun*) { return LoadOnGpu(); }

}  // namespace tapedeck::gpu_worker::sockets
