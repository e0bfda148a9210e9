#include "tests/gpu_worker/sockets/cuda/launch.cuh"
#include "tests/gpu_worker/sockets/programs.h"

namespace tapedeck::gpu_worker::sockets {

TAPEDECK_KERNEL_OF(Calls);

}  // namespace tapedeck::gpu_worker::sockets
