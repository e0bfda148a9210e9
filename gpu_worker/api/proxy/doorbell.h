// Why no GPU rings a network port's doorbell itself, and takes the proxy's place: the seam at which
// such a way would begin. There is none in this build.
#pragma once

#include <string>

namespace tapedeck::gpu_worker::api {

// What is missing on this machine, or in this build. A kernel needs a queue pair of an mlx5 port
// whose doorbell page is mapped for the GPU, which takes mlx5's direct verbs and NVIDIA's DOCA
// GPUNetIO. Looks at the machine; does not wait.
std::string WhyNoDoorbell();

}  // namespace tapedeck::gpu_worker::api
