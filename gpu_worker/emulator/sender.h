// Sends the packets of a plan at a rate.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/emulator/plan.h"
#include "gpu_worker/emulator/target.h"

namespace tapedeck::gpu_worker::emulator {

// What stands before the samples of a packet, by the packets' kind.
struct HeaderKind {
  size_t bytes = 0;
  struct About {
    uint64_t packet = 0;       // counted from 0
    size_t samples_bytes = 0;  // of the packet
    bool end = false;          // it ends the stream: no samples follow
  };
  std::function<void(const About& about, std::span<std::byte> out)> write;
};

struct SendSettings {
  Plan plan;
  uint64_t bytes_per_s = 0;  // of samples; 0: as fast as it can
  int64_t duration_ns = 0;   // 0: no such limit
  int ends = 1;              // times that the end is sent
};

struct Sent {
  uint64_t packets = 0;  // of the stream
  uint64_t samples = 0;  // of the stream
  uint64_t dropped_packets = 0;
  uint64_t dropped_samples = 0;
  uint64_t repeated_packets = 0;
  uint64_t reordered_packets = 0;
  double seconds = 0;
};

// Waits between packets, and for the target. The plan or the duration ends it.
absl::StatusOr<Sent> SendAll(const SendSettings& settings, const HeaderKind& header,
                             Target& target);

// One JSON object.
std::string TextOf(const Sent& sent, size_t sample_bytes);

}  // namespace tapedeck::gpu_worker::emulator
