// Marks functions that run on the CPU and in kernels alike. C++17, for nvcc and for g++.
#pragma once

#ifdef __CUDACC__
#define TAPEDECK_ANYWHERE __host__ __device__ inline
#else
#define TAPEDECK_ANYWHERE inline
#endif
