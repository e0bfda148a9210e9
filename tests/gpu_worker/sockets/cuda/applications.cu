#include "tests/gpu_worker/sockets/applications/face.h"
#include "tests/gpu_worker/sockets/applications/file_server.h"
#include "tests/gpu_worker/sockets/applications/listen.h"
#include "tests/gpu_worker/sockets/applications/matrix.h"
#include "tests/gpu_worker/sockets/applications/word_count.h"
#include "tests/gpu_worker/sockets/cuda/launch.cuh"

namespace tapedeck::gpu_worker::sockets {

TAPEDECK_KERNEL_OF(FaceServer);
TAPEDECK_KERNEL_OF(FileServer);
TAPEDECK_KERNEL_OF(Listen);
TAPEDECK_KERNEL_OF(MatrixServer);
TAPEDECK_KERNEL_OF(WordCount);

}  // namespace tapedeck::gpu_worker::sockets
