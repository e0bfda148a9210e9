#include "gpu_worker/emulator/plan.h"

#include <algorithm>
#include <array>
#include <limits>

#include "dataplane/little_endian.h"

namespace tapedeck::gpu_worker::emulator {
namespace {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
uint64_t Mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

uint64_t Plan::packets() const {
  if (samples == 0) return std::numeric_limits<uint64_t>::max();
  return (samples + samples_per_packet() - 1) / samples_per_packet();
}

size_t Plan::bytes_of(uint64_t packet) const {
  if (samples == 0) return packet_bytes;
  const uint64_t left = samples - packet * samples_per_packet();
  return std::min(left, samples_per_packet()) * sample_bytes;
}

Fates::Fate Fates::Next() {
  const uint64_t number = ++packet_;
  if (number == 1) return Fate::kSent;
  if (still_dropped_ == 0 && Happens(1, number, plan_.drop)) still_dropped_ = plan_.drop_run;
  if (still_dropped_ > 0) {
    --still_dropped_;
    return Fate::kDropped;
  }
  if (Happens(2, number, plan_.repeat)) return Fate::kRepeated;
  return Happens(3, number, plan_.reorder) ? Fate::kReordered : Fate::kSent;
}

Fates::Fate Fates::NextBefore() {
  const uint64_t number = ++before_;
  if (Happens(4, number, plan_.repeat)) return Fate::kRepeated;
  return Happens(5, number, plan_.reorder) ? Fate::kReordered : Fate::kSent;
}

bool Fates::Happens(uint64_t fault, uint64_t number, uint64_t of_a_million) const {
  return Mixed(Mixed(plan_.seed + fault) ^ number) % 1'000'000 < of_a_million;
}

std::vector<Retune> PlanRetunes(uint64_t samples, uint64_t count, uint64_t seed) {
  constexpr double kFirstHertz = 1e9, kStepHertz = 2'500'000.5;
  constexpr uint64_t kFrequencies = 10;
  std::vector<Retune> tuned{{.sample = 0, .frequency_hz = kFirstHertz}};
  const uint64_t apart = samples / (count + 1);
  for (uint64_t i = 1; i <= count && apart > 0; ++i) {
    const auto step = static_cast<double>(i % kFrequencies);
    tuned.push_back({.sample = i * apart + Mixed(seed ^ i) % apart,
                     .frequency_hz = kFirstHertz + step * kStepHertz});
  }
  return tuned;
}

void FillSamples(uint64_t offset, std::span<std::byte> out) {
  uint64_t number = offset / sizeof(uint64_t) + 1;
  while (!out.empty()) {
    std::array<std::byte, sizeof(uint64_t)> word;
    dataplane::PutLittleEndian(word.data(), number++);
    const size_t bytes = std::min(out.size(), word.size());
    std::copy_n(word.begin(), bytes, out.begin());
    out = out.subspan(bytes);
  }
}

}  // namespace tapedeck::gpu_worker::emulator
