#include "gpu_worker/stages/verify/reference_fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tapedeck::gpu_worker::stages::verify {
namespace {

struct Rows {
  double* __restrict real;
  double* __restrict imaginary;
};

// One butterfly over `stride` neighbouring columns: sum to `sum`, rotated difference to `turned`.
void Butterflies(const double* __restrict ar, const double* __restrict ai,
                 const double* __restrict br, const double* __restrict bi, Rows sum, Rows turned,
                 size_t stride, double c, double s) {
  for (size_t q = 0; q < stride; ++q) {
    const double dr = ar[q] - br[q];
    const double di = ai[q] - bi[q];
    sum.real[q] = ar[q] + br[q];
    sum.imaginary[q] = ai[q] + bi[q];
    turned.real[q] = dr * c + di * s;
    turned.imaginary[q] = di * c - dr * s;
  }
}

}  // namespace

ReferenceFft::ReferenceFft(uint32_t points)
    : points_(points), work_real_(points), work_imaginary_(points) {
  for (uint32_t k = 0; k < points / 2; ++k) {
    const double angle = 2 * std::numbers::pi * k / points;
    cos_.push_back(std::cos(angle));
    sin_.push_back(std::sin(angle));
  }
}

// Stockham's form of the radix-2 FFT: each pass reads one pair of arrays and writes the other, in
// order, so there is no bit reversal.
void ReferenceFft::Forward(std::span<double> real, std::span<double> imaginary) {
  double* xr = real.data();
  double* xi = imaginary.data();
  double* yr = work_real_.data();
  double* yi = work_imaginary_.data();
  for (size_t half = points_ / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    for (size_t p = 0; p < half; ++p) {
      const size_t a = stride * p;
      const size_t b = stride * (p + half);
      const size_t out = stride * 2 * p;
      Butterflies(xr + a, xi + a, xr + b, xi + b, {yr + out, yi + out},
                  {yr + out + stride, yi + out + stride}, stride, cos_[p * stride],
                  sin_[p * stride]);
    }
    std::swap(xr, yr);
    std::swap(xi, yi);
  }
  if (xr != real.data()) {
    std::copy_n(xr, points_, real.data());
    std::copy_n(xi, points_, imaginary.data());
  }
}

}  // namespace tapedeck::gpu_worker::stages::verify
