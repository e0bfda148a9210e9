#include "tests/gpu_worker/sockets/cuda/absent.h"

namespace tapedeck::gpu_worker::sockets {

std::string JoinGpu(GpuRun*) { return "built without CUDA"; }

}  // namespace tapedeck::gpu_worker::sockets
