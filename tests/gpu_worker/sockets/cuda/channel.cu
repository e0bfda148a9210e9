#include "tests/gpu_worker/sockets/channel_programs.h"
#include "tests/gpu_worker/sockets/cuda/launch.cuh"

namespace tapedeck::gpu_worker::sockets {

TAPEDECK_KERNEL_OF(ChannelCalls);

}  // namespace tapedeck::gpu_worker::sockets
