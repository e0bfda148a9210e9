// Sends the packets of a plan at a rate.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/emulator/packet_maker.h"
#include "gpu_worker/emulator/plan.h"
#include "gpu_worker/emulator/target.h"

namespace tapedeck::gpu_worker::emulator {

struct SendSettings {
  Plan plan;
  uint64_t bytes_per_s = 0;                 // of samples; 0: as fast as it can
  int64_t duration_ns = 0;                  // 0: no such limit
  int ends = 1;                             // times that the end is sent
  const std::atomic<bool>* stop = nullptr;  // true: it ends behind what was sent; null: never
};

struct Sent {
  uint64_t packets = 0;  // with samples, of the stream
  uint64_t samples = 0;  // of the stream
  uint64_t dropped_packets = 0;
  uint64_t dropped_samples = 0;
  uint64_t repeated_packets = 0;
  uint64_t reordered_packets = 0;
  uint64_t other_packets = 0;  // without samples, once each
  double seconds = 0;

  // Of the stream, none of which touches the next. So many are kept at most.
  static constexpr size_t kMostLosses = 100'000;
  struct Loss {
    uint64_t sample = 0;
    uint64_t samples = 0;
    bool operator==(const Loss&) const = default;
  };
  std::vector<Loss> losses;
};

// Waits between packets, and for the target. The plan, the duration or `stop` ends it.
absl::StatusOr<Sent> SendAll(const SendSettings& settings, PacketMaker& maker, Target& target);

// One JSON object, with what the stream was tuned to.
std::string TextOf(const Sent& sent, size_t sample_bytes, const std::vector<Retune>& tuned);

}  // namespace tapedeck::gpu_worker::emulator
