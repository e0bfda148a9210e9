#include "gpu_worker/stages/synth/signal.h"

#include <algorithm>
#include <cmath>

namespace tapedeck::gpu_worker::stages::synth {
namespace {

uint64_t TurnPerSample(double tone) {
  const double turn = std::ldexp(std::fabs(tone), 64);  // at most 2^63
  const uint64_t units = static_cast<uint64_t>(turn);
  return tone < 0 ? -units : units;
}

}  // namespace

Waveform WaveformOf(const Parameters& parameters) {
  const std::vector<double>& tones = parameters.tones;
  Waveform waveform{.seed = parameters.seed, .tones = static_cast<uint32_t>(tones.size())};
  std::ranges::transform(tones, waveform.turn_per_sample, TurnPerSample);
  waveform.noise_scale = static_cast<float>(parameters.noise / kNoiseSigma);
  return waveform;
}

Generator::Generator(const Waveform& waveform) : waveform_(waveform) {
  for (uint32_t tone = 0; tone < waveform_.tones; ++tone) {
    for (uint32_t i = 0; i < kChunk; ++i) steps_.push_back(Step(waveform_, tone, i));
  }
}

void Generator::Make(uint64_t first, std::span<Complex> out) const {
  while (!out.empty()) {
    const size_t count = std::min<size_t>(out.size(), kChunk - first % kChunk);
    MakeInChunk(first, out.first(count));
    out = out.subspan(count);
    first += count;
  }
}

void Generator::MakeInChunk(uint64_t first, std::span<Complex> out) const {
  for (size_t i = 0; i < out.size(); ++i) out[i] = ScaledNoise(waveform_, first + i);
  const uint64_t chunk = first / kChunk;
  for (uint32_t tone = 0; tone < waveform_.tones; ++tone) {
    const Complex start = ChunkStart(waveform_, tone, chunk);
    const Complex* steps = steps_.data() + tone * kChunk + first % kChunk;
    for (size_t i = 0; i < out.size(); ++i) out[i] = AddTone(out[i], start, steps[i]);
  }
}

}  // namespace tapedeck::gpu_worker::stages::synth
