// An FFT in double precision, of our own: what the verify sink and the tests hold FFTW and cuFFT
// against. Batched complex-to-complex, forward, unnormalised. About 0.5 GB/s of cf32 on one core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tapedeck::gpu_worker::stages::verify {

// One thread.
class ReferenceFft {
 public:
  // `points` is a power of two.
  explicit ReferenceFft(uint32_t points);

  uint32_t points() const { return points_; }

  // Transforms real + i imaginary in place; both hold `points` values.
  void Forward(std::span<double> real, std::span<double> imaginary);

 private:
  const uint32_t points_;
  std::vector<double> cos_;  // of 2 pi k / points, k < points / 2
  std::vector<double> sin_;
  std::vector<double> work_real_;
  std::vector<double> work_imaginary_;
};

}  // namespace tapedeck::gpu_worker::stages::verify
