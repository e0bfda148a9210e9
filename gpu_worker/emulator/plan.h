// What the emulator sends: so many samples in packets, and what becomes of each packet, by a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tapedeck::gpu_worker::emulator {

struct Plan {
  size_t sample_bytes = 8;
  size_t packet_bytes = 1024;  // of samples
  uint64_t samples = 0;        // 0: endless

  // Planted faults, each in so many of a million packets. The first packet has none: a receiver
  // counts from it.
  uint64_t drop = 0;
  uint64_t drop_run = 1;  // packets that are dropped at a time
  uint64_t repeat = 0;
  uint64_t reorder = 0;  // behind the next one
  uint64_t seed = 1;

  uint64_t samples_per_packet() const { return packet_bytes / sample_bytes; }
  // UINT64_MAX: endless.
  uint64_t packets() const;
  // Bytes of samples in that packet.
  size_t bytes_of(uint64_t packet) const;
};

// From one sample of the stream on, the device hears another frequency.
struct Retune {
  uint64_t sample = 0;
  double frequency_hz = 0;
  bool operator==(const Retune&) const = default;
};
// What is heard first, and `count` retunes behind it, at most as many as there are samples: spread
// over the stream by the seed, each at any sample of a packet, to frequencies that come again.
std::vector<Retune> PlanRetunes(uint64_t samples, uint64_t count, uint64_t seed);

// What becomes of the packets, one after the other. One thread.
class Fates {
 public:
  enum class Fate { kSent, kDropped, kRepeated, kReordered };

  explicit Fates(const Plan& plan) : plan_(plan) {}

  // Of the next packet.
  Fate Next();
  // Of the next packet that goes before one and has no samples. None is dropped: what it tells
  // would be known to nobody.
  Fate NextBefore();

 private:
  bool Happens(uint64_t fault, uint64_t number, uint64_t of_a_million) const;

  const Plan plan_;
  uint64_t packet_ = 0;
  uint64_t before_ = 0;
  uint64_t still_dropped_ = 0;
};

// The stream's bytes from `offset`, a multiple of 8, on: the 64-bit numbers from 1 up,
// little-endian. None of them is 0, as what a receiver puts in the place of lost samples is.
void FillSamples(uint64_t offset, std::span<std::byte> out);

}  // namespace tapedeck::gpu_worker::emulator
