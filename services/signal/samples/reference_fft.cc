#include "services/signal/samples/reference_fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

namespace tapedeck::services::samples {
namespace {

// Between arrays of one pass: whole pages apart, loads wait for stores that they have nothing to do
// with.
constexpr size_t kGap = 192;

struct Rows {
  double* re;
  double* im;
};

// Of every processor that there is.
using Two = double __attribute__((vector_size(16)));

template <typename T>
T Load(const double* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <typename T>
void Store(double* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

// By which a butterfly turns its values but the first.
template <typename T>
struct Turns {
  T cos[3];
  T sin[3];
};

template <typename T>
struct Values {
  T re[4];
  T im[4];
};

// Of four values that lie `apart`; T: of one butterfly, or of two that are neighbours.
template <typename T>
inline Values<T> Butterfly(const double* xr, const double* xi, size_t apart,
                           const Turns<T>& turns) {
  const T ar = Load<T>(xr), ai = Load<T>(xi);
  const T br = Load<T>(xr + apart), bi = Load<T>(xi + apart);
  const T cr = Load<T>(xr + 2 * apart), ci = Load<T>(xi + 2 * apart);
  const T dr = Load<T>(xr + 3 * apart), di = Load<T>(xi + 3 * apart);
  const T re[3] = {(ar - cr) + (bi - di), (ar + cr) - (br + dr), (ar - cr) - (bi - di)};
  const T im[3] = {(ai - ci) - (br - dr), (ai + ci) - (bi + di), (ai - ci) + (br - dr)};
  Values<T> out{{(ar + cr) + (br + dr)}, {(ai + ci) + (bi + di)}};
  for (size_t i = 0; i < 3; ++i) {
    out.re[i + 1] = re[i] * turns.cos[i] + im[i] * turns.sin[i];
    out.im[i + 1] = im[i] * turns.cos[i] - re[i] * turns.sin[i];
  }
  return out;
}

template <typename T>
inline Turns<T> TurnsAt(const std::vector<double>* turns, size_t k) {
  return {{Load<T>(&turns[0][k]), Load<T>(&turns[2][k]), Load<T>(&turns[4][k])},
          {Load<T>(&turns[1][k]), Load<T>(&turns[3][k]), Load<T>(&turns[5][k])}};
}

// The first pass, whose butterflies have no neighbours with the same turns.
void First(const Rows& x, const Rows& y, size_t apart, const std::vector<double>* turns) {
  const auto store = [](double* to, const Two* of) {
    Store(to, __builtin_shufflevector(of[0], of[1], 0, 2));
    Store(to + 2, __builtin_shufflevector(of[2], of[3], 0, 2));
    Store(to + 4, __builtin_shufflevector(of[0], of[1], 1, 3));
    Store(to + 6, __builtin_shufflevector(of[2], of[3], 1, 3));
  };
  for (size_t k = 0; k < apart; k += 2) {
    const auto out = Butterfly(x.re + k, x.im + k, apart, TurnsAt<Two>(turns, k));
    store(y.re + 4 * k, out.re);
    store(y.im + 4 * k, out.im);
  }
}

// One butterfly, or as many neighbours at a time as T holds.
template <typename T>
void Quarter(const Rows& x, const Rows& y, size_t apart, size_t stride,
             const std::vector<double>* turns) {
  for (size_t k = 0; k < apart; k += stride) {
    const Turns<double> at = TurnsAt<double>(turns, k);
    Turns<T> same;
    for (size_t i = 0; i < 3; ++i) same.cos[i] = at.cos[i] + T{}, same.sin[i] = at.sin[i] + T{};
    for (size_t q = 0; q < stride; q += sizeof(T) / sizeof(double)) {
      const Values<T> out = Butterfly(x.re + k + q, x.im + k + q, apart, same);
      for (size_t i = 0; i < 4; ++i) {
        Store(y.re + 4 * k + i * stride + q, out.re[i]);
        Store(y.im + 4 * k + i * stride + q, out.im[i]);
      }
    }
  }
}

// The last pass of what is no power of 4.
void Halve(const double* x, double* y, size_t half) {
  for (size_t q = 0; q < half; ++q) {
    const double first = x[q], second = x[q + half];
    y[q] = first + second;
    y[q + half] = first - second;
  }
}

// out = a * b, element by element; out may be either of them.
void Multiply(std::span<const double> ar, std::span<const double> ai, const SplitComplex& b,
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

Radix4Fft::Radix4Fft(size_t points) : points_(points) {
  for (size_t k = 0; k < points / 4; ++k) {
    for (size_t times = 1; times <= 3; ++times) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(times * k) / static_cast<double>(points);
      turns_[2 * times - 2].push_back(std::cos(angle));
      turns_[2 * times - 1].push_back(std::sin(angle));
    }
  }
}

// Stockham's form of the radix-4 FFT, at last of radix 2 for what is no power of 4: each pass reads
// one pair of arrays and writes the other, in order, so there is no reversal of digits.
void Radix4Fft::Forward(std::span<double> real, std::span<double> imaginary,
                        Workspace& workspace) const {
  if (workspace.work.size() < 2 * points_ + kGap) workspace.work.resize(2 * points_ + kGap);
  Rows x{real.data(), imaginary.data()};
  Rows y{workspace.work.data(), workspace.work.data() + points_ + kGap};
  size_t stride = 1;
  for (; stride * 4 <= points_; stride *= 4) {
    const size_t apart = points_ / 4;
    if (stride > 1) {
      Quarter<Two>(x, y, apart, stride, turns_);
    } else if (apart > 1) {
      First(x, y, apart, turns_);
    } else {
      Quarter<double>(x, y, apart, stride, turns_);
    }
    std::swap(x, y);
  }
  if (stride < points_) {
    Halve(x.re, y.re, stride);
    Halve(x.im, y.im, stride);
    std::swap(x, y);
  }
  if (x.re == real.data()) return;
  std::copy_n(x.re, points_, real.data());
  std::copy_n(x.im, points_, imaginary.data());
}

ReferenceFft::ReferenceFft(uint32_t points)
    : points_(points),
      power_of_two_(std::has_single_bit(points) ? points : ConvolutionOf(points)),
      chirp_(std::has_single_bit(points) ? 0 : points),
      response_(std::has_single_bit(points) ? 0 : ConvolutionOf(points)) {
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
  Workspace workspace;
  power_of_two_.Forward(response_.real, response_.imaginary, workspace);
}

void ReferenceFft::Forward(std::span<double> real, std::span<double> imaginary,
                           Workspace& workspace) const {
  if (chirp_.real.empty()) return power_of_two_.Forward(real, imaginary, workspace);
  const size_t size = response_.real.size();
  if (workspace.padded.real.size() < size) workspace.padded = SplitComplex(size);
  const auto padded_real = std::span(workspace.padded.real).first(size);
  const auto padded_imaginary = std::span(workspace.padded.imaginary).first(size);
  Multiply(real, imaginary, chirp_, padded_real.first(points_), padded_imaginary.first(points_));
  std::ranges::fill(padded_real.subspan(points_), 0.0);
  std::ranges::fill(padded_imaginary.subspan(points_), 0.0);
  power_of_two_.Forward(padded_real, padded_imaginary, workspace);
  Multiply(padded_real, padded_imaginary, response_, padded_real, padded_imaginary);
  // With the parts exchanged, before and after, a forward transform is the inverse one.
  power_of_two_.Forward(padded_imaginary, padded_real, workspace);
  Multiply(padded_real, padded_imaginary, chirp_, real, imaginary);
}

}  // namespace tapedeck::services::samples
