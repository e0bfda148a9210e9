// Decides whether a packet is believed that does not go on where the stream is. Nothing proves who
// sent a packet, and one alone must not move the stream: what it claims to be missing would be
// given away at once, and all that comes at the old place would be late.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/clock.h"
#include "gpu_worker/stages/ingest/counts.h"
#include "gpu_worker/stages/ingest/packet.h"
#include "gpu_worker/stages/ingest/placement.h"

namespace tapedeck::gpu_worker::stages::ingest {

struct JumpsParts {
  size_t block_samples = 0;
  size_t sample_bytes = 0;
  double sample_rate = 0;  // of the channel; 0: unknown
  std::shared_ptr<Counts> counts;
  // The sender has begun to count anew: its samples go on at `position`. Bounded by kMostRestarts.
  std::function<void(uint64_t position, int64_t told)> restarted;
};

// One thread. In front of a placement, which nobody else fills.
class Jumps {
 public:
  // If the old place is silent for so long, one packet is enough. Shorter than the pause between
  // packets of a slow stream, it would believe any.
  static constexpr int64_t kSilentNs = 100 * dataplane::kMillisecondNs;
  // A count that began anew is believed after such a silence, and so many packets in a row. Packets
  // that are merely late seldom come so.
  static constexpr int64_t kRestartNs = dataplane::kSecondNs;
  static constexpr int kRestartRun = 4;
  // Marks of a recording; later ones are only counted.
  static constexpr uint64_t kMostRestarts = 100;
  // Beyond what the rate makes possible since the last packet, so much may be missing: clocks
  // differ, and so do packets on their way.
  static constexpr int64_t kMarginNs = dataplane::kSecondNs;
  static constexpr int64_t kMarginBlocks = 8;

  // Both outlive it.
  Jumps(JumpsParts parts, Placement& placement, const dataplane::Clock& clock);

  // `told` is by the sender's count. Takes the packet, keeps it until another one agrees, or counts
  // it.
  void Place(int64_t told, std::span<const std::byte> samples);

  // Nothing waits to be read: later packets are younger than this.
  void CaughtUp() { caught_up_ns_ = clock_.NowNs(); }

  // The sender says that its stream ends there. Where it ends in the recording: at its newest
  // sample, if that is impossible.
  int64_t EndAt(int64_t told);

  // Nothing more comes: believes the packet that waits if it came last of all.
  void Finish();

  int64_t PositionOf(int64_t told) const { return told + offset_; }
  // By the sender's count.
  SoFar SoFarNow() const;

 private:
  struct PendingPacket {
    int64_t position = 0;
    std::vector<std::byte> samples;
    int64_t came_ns = 0;
  };
  // Packets in a row at an impossible place.
  struct Stray {
    int64_t position = 0;
    int run = 0;
  };

  int64_t CountOf(std::span<const std::byte> samples) const;
  bool GoesOn(int64_t position, int64_t count) const;
  bool IsPossible(int64_t position, int64_t now_ns) const;
  double RateSoFar(int64_t now_ns) const;
  bool AgreesWithHeld(int64_t position, int64_t count) const;
  int64_t Near(int64_t count) const;
  void Take(int64_t position, std::span<const std::byte> samples);
  void TakeBoth(int64_t position, std::span<const std::byte> samples);
  void Hold(int64_t position, std::span<const std::byte> samples, int64_t now_ns);
  void DropHeld();
  bool BeganAnew(int64_t position, int64_t count, int64_t now_ns);
  void Restart(int64_t position, std::span<const std::byte> samples, int64_t now_ns);
  void Count(Placement::Outcome outcome);

  const JumpsParts parts_;
  Placement& placement_;
  const dataplane::Clock& clock_;

  int64_t offset_ = 0;  // from the sender's count to the recording's
  int64_t begin_ns_ = 0;
  double samples_taken_ = 0;  // the missing ones are not among them
  double fastest_ = 0;        // samples a second that have come so, over the whole stream
  int64_t caught_up_ns_ = 0;
  int64_t last_taken_ns_ = 0;
  int64_t arrived_after_ns_ = 0;  // of the last that was taken
  std::optional<PendingPacket> held_;
  std::optional<Stray> stray_;
};

}  // namespace tapedeck::gpu_worker::stages::ingest
