// The synthetic signal: complex tones plus noise, as a function of (seed, sample index) alone, so
// that any sample can be computed again, anywhere. CPU and GPU compile this same header without
// fused multiply-add and agree bit for bit: only +, - and * on IEEE floats, and integers.
//
// Sample n = sum over tones of e^(2 pi i f n), each of amplitude 1, + noise. A tone's angle is a
// 64-bit fraction of a turn, exact for every n. It is split at kChunk: e^(i a(n)) =
// chunk_start(n / kChunk) * step(n % kChunk), one complex multiplication per sample.
#pragma once

#include <cstdint>

namespace tapedeck::gpu_worker::stages::synth {

// Samples that share one chunk start.
inline constexpr uint32_t kChunk = 256;
inline constexpr uint32_t kMaxTones = 16;

struct Complex {
  float re = 0;
  float im = 0;
};

// What a sample is computed from; made by WaveformOf of source.h.
struct Waveform {
  uint64_t seed = 0;
  uint32_t tones = 0;
  uint64_t turn_per_sample[kMaxTones] = {};  // in 2^-64 turns, modulo one turn
  float noise_scale = 0;                     // from NoiseUnits to standard deviations
};

namespace internal {

// Taylor series for |x| <= pi/4; the remainder is below 1e-16.
constexpr double Sin(double x) {
  const double y = x * x;
  double sum = 1.0 / 6227020800.0;
  sum = sum * y - 1.0 / 39916800.0;
  sum = sum * y + 1.0 / 362880.0;
  sum = sum * y - 1.0 / 5040.0;
  sum = sum * y + 1.0 / 120.0;
  sum = sum * y - 1.0 / 6.0;
  return x + x * (y * sum);
}

constexpr double Cos(double x) {
  const double y = x * x;
  double sum = 1.0 / 20922789888000.0;
  sum = sum * y - 1.0 / 87178291200.0;
  sum = sum * y + 1.0 / 479001600.0;
  sum = sum * y - 1.0 / 3628800.0;
  sum = sum * y + 1.0 / 40320.0;
  sum = sum * y - 1.0 / 720.0;
  sum = sum * y + 1.0 / 24.0;
  sum = sum * y - 1.0 / 2.0;
  return 1.0 + y * sum;
}

// The output function of SplitMix64 (Steele, Lea, Flood 2014).
constexpr uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace internal

// e^(2 pi i turn / 2^64).
constexpr Complex Rotation(uint64_t turn) {
  const uint64_t quadrant = (turn + (uint64_t{1} << 61)) >> 62;
  const int64_t rest = static_cast<int64_t>(turn - (quadrant << 62));
  const double angle = static_cast<double>(rest) * (6.283185307179586 / 18446744073709551616.0);
  const float c = static_cast<float>(internal::Cos(angle));
  const float s = static_cast<float>(internal::Sin(angle));
  switch (quadrant & 3) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

// The sum of four uniform 16-bit numbers less its mean: bell-shaped, standard deviation
// kNoiseSigma.
struct NoiseUnits {
  int32_t re = 0;
  int32_t im = 0;
};
inline constexpr double kNoiseSigma = 37837.22;  // sqrt(4 / 12) * 65536

constexpr NoiseUnits Noise(uint64_t seed, uint64_t sample) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;  // SplitMix64's step
  const uint64_t counter = internal::Mix(seed) + 2 * sample * kGolden;
  const uint64_t a = internal::Mix(counter + kGolden);
  const uint64_t b = internal::Mix(counter + 2 * kGolden);
  // Two 32-bit lanes, each summing four 16-bit numbers.
  constexpr uint64_t kLanes = 0x0000ffff0000ffffu;
  const uint64_t sum = (a & kLanes) + ((a >> 16) & kLanes) + (b & kLanes) + ((b >> 16) & kLanes);
  return {static_cast<int32_t>(sum & 0xffffffffu) - 131070,
          static_cast<int32_t>(sum >> 32) - 131070};
}

constexpr Complex ScaledNoise(const Waveform& waveform, uint64_t sample) {
  const NoiseUnits units = Noise(waveform.seed, sample);
  return {static_cast<float>(units.re) * waveform.noise_scale,
          static_cast<float>(units.im) * waveform.noise_scale};
}

constexpr Complex ChunkStart(const Waveform& waveform, uint32_t tone, uint64_t chunk) {
  return Rotation(waveform.turn_per_sample[tone] * (chunk * kChunk));
}

constexpr Complex Step(const Waveform& waveform, uint32_t tone, uint32_t offset) {
  return Rotation(waveform.turn_per_sample[tone] * offset);
}

constexpr Complex AddTone(Complex sum, Complex chunk_start, Complex step) {
  return {sum.re + (chunk_start.re * step.re - chunk_start.im * step.im),
          sum.im + (chunk_start.re * step.im + chunk_start.im * step.re)};
}

}  // namespace tapedeck::gpu_worker::stages::synth
