#include "tests/gpu_worker/sockets/bench/measured.h"
#include "tests/gpu_worker/sockets/cuda/absent.h"

namespace tapedeck::gpu_worker::sockets {

TAPEDECK_KERNEL_OF(BenchServer);

}  // namespace tapedeck::gpu_worker::sockets
