#include "gpu_worker/stages/verify/reference_fft.h"

#include <algorithm>
#include <bit>
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

// out = a * b, element by element; out may be either of them.
void Multiply(std::span<const double> ar, std::span<const double> ai, const Parts& b,
              std::span<double> out_real, std::span<double> out_imaginary) {
  for (size_t i = 0; i < out_real.size(); ++i) {
    const double real = ar[i] * b.real[i] - ai[i] * b.imaginary[i];
    out_imaginary[i] = ar[i] * b.imaginary[i] + ai[i] * b.real[i];
    out_real[i] = real;
  }
}

// A convolution of `points` values with a response of twice as many fits in it.
size_t ConvolutionOf(uint32_t points) { return std::bit_ceil(size_t{2} * points - 1); }

}  // namespace

Radix2Fft::Radix2Fft(size_t points) : points_(points), turns_(points / 2), work_(points) {
  for (size_t k = 0; k < points / 2; ++k) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points);
    turns_.real[k] = std::cos(angle);
    turns_.imaginary[k] = std::sin(angle);
  }
}

// Stockham's form of the radix-2 FFT: each pass reads one pair of arrays and writes the other, in
// order, so there is no bit reversal.
void Radix2Fft::Forward(std::span<double> real, std::span<double> imaginary) {
  double* xr = real.data();
  double* xi = imaginary.data();
  double* yr = work_.real.data();
  double* yi = work_.imaginary.data();
  for (size_t half = points_ / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    for (size_t p = 0; p < half; ++p) {
      const size_t a = stride * p;
      const size_t b = stride * (p + half);
      const size_t out = stride * 2 * p;
      Butterflies(xr + a, xi + a, xr + b, xi + b, {yr + out, yi + out},
                  {yr + out + stride, yi + out + stride}, stride, turns_.real[p * stride],
                  turns_.imaginary[p * stride]);
    }
    std::swap(xr, yr);
    std::swap(xi, yi);
  }
  if (xr != real.data()) {
    std::copy_n(xr, points_, real.data());
    std::copy_n(xi, points_, imaginary.data());
  }
}

ReferenceFft::ReferenceFft(uint32_t points)
    : points_(points),
      radix2_(std::has_single_bit(points) ? points : ConvolutionOf(points)),
      chirp_(std::has_single_bit(points) ? 0 : points),
      response_(std::has_single_bit(points) ? 0 : ConvolutionOf(points)),
      padded_(response_.real.size()) {
  if (std::has_single_bit(points)) return;
  const size_t size = response_.real.size();
  const auto scale = static_cast<double>(size);
  for (uint64_t n = 0; n < points; ++n) {
    // The angle of n^2, exactly: only what is left of a whole turn counts.
    const double angle =
        std::numbers::pi * static_cast<double>(n * n % (2 * uint64_t{points})) / points;
    chirp_.real[n] = std::cos(angle);
    chirp_.imaginary[n] = -std::sin(angle);
    for (const size_t place : {size_t{n}, (size - n) % size}) {
      response_.real[place] = std::cos(angle) / scale;
      response_.imaginary[place] = std::sin(angle) / scale;
    }
  }
  radix2_.Forward(response_.real, response_.imaginary);
}

void ReferenceFft::Forward(std::span<double> real, std::span<double> imaginary) {
  if (chirp_.real.empty()) return radix2_.Forward(real, imaginary);
  auto& [padded_real, padded_imaginary] = padded_;
  Multiply(real, imaginary, chirp_, std::span(padded_real).first(points_),
           std::span(padded_imaginary).first(points_));
  std::fill(padded_real.begin() + points_, padded_real.end(), 0.0);
  std::fill(padded_imaginary.begin() + points_, padded_imaginary.end(), 0.0);
  radix2_.Forward(padded_real, padded_imaginary);
  Multiply(padded_real, padded_imaginary, response_, padded_real, padded_imaginary);
  // With the parts exchanged, before and after, a forward transform is the inverse one.
  radix2_.Forward(padded_imaginary, padded_real);
  Multiply(padded_real, padded_imaginary, chirp_, real, imaginary);
}

}  // namespace tapedeck::gpu_worker::stages::verify
