// Whether a GPU could ring a network port's doorbell itself, and take the proxy's place: the seam
// at which such a way would begin. There is none in this build, and this says why.
#pragma once

#include "absl/status/status.h"

namespace tapedeck::gpu_worker::api {

// OK if there is a port whose doorbell kernels can ring; else FAILED_PRECONDITION with what is
// missing. A kernel needs a queue pair of an mlx5 port whose doorbell page is mapped for the GPU,
// which takes mlx5's direct verbs and NVIDIA's DOCA GPUNetIO. Looks at the machine; does not wait.
absl::Status GpuRingsDoorbells();

}  // namespace tapedeck::gpu_worker::api
