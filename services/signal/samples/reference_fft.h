// An FFT in double precision, of our own: what the verify sink and the tests hold the libraries
// against, and what the storage node has for pictures of recordings. Complex-to-complex, forward,
// unnormalised, of any length; where that is no power of two, several times slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tapedeck::services::samples {

// Real and imaginary parts, as many of one as of the other.
struct SplitComplex {
  explicit SplitComplex(size_t size) : real(size), imaginary(size) {}
  std::vector<double> real;
  std::vector<double> imaginary;
};

// What a transform computes in; of one thread, for transforms of any length.
struct Workspace {
  std::vector<double> work;
  SplitComplex padded{0};
};

// Of a power of two. Any thread.
class Radix4Fft {
 public:
  explicit Radix4Fft(size_t points);

  // In place; both hold as many values as there are points.
  void Forward(std::span<double> real, std::span<double> imaginary, Workspace& workspace) const;

 private:
  const size_t points_;
  // cos and sin of 2 pi k / points, k < points / 4; of twice that, and of three times that.
  std::vector<double> turns_[6];
};

// Any thread.
class ReferenceFft {
 public:
  explicit ReferenceFft(uint32_t points);

  uint32_t points() const { return points_; }

  // Transforms real + i imaginary in place; both hold `points` values.
  void Forward(std::span<double> real, std::span<double> imaginary, Workspace& workspace) const;

 private:
  const uint32_t points_;
  Radix4Fft power_of_two_;  // of `points`, or of the convolution that stands for them
  // Empty for a power of two. For other lengths Bluestein's form (1970) makes a convolution of the
  // transform: chirp[n] = e^(-pi i n^2 / points), `response` is what its conjugate becomes.
  SplitComplex chirp_;
  SplitComplex response_;
};

}  // namespace tapedeck::services::samples
