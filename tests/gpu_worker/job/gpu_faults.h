// What a test does to a GPU, and asks of it. Rooms: cuda/, and absent.cc in a build without CUDA.
#pragma once

#include <cstddef>

namespace tapedeck::gpu_worker {

// A kernel that writes where nothing is: from then on nothing of this process succeeds on the GPU.
// Does not wait for it.
void WriteWhereNothingIs();

// Of GPU 0 as the driver tells it; 0 without one.
size_t FreeGpuBytes();

}  // namespace tapedeck::gpu_worker
