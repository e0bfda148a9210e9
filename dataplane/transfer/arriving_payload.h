// The check values of a payload that comes over a connection. The receiver computes them while the
// bytes are in its cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/clock.h"
#include "dataplane/crc/piece_crcs.h"

namespace tapedeck::dataplane {

// On the poller of its connection, which has one payload under way at a time.
class ArrivingPayload {
 public:
  struct Checked {
    PieceCrcs pieces;
    int64_t busy_ns = 0;  // to compute them
  };

  // `piece_bytes` > 0; `clock` outlives it.
  ArrivingPayload(uint32_t piece_bytes, const Clock& clock)
      : piece_bytes_(piece_bytes), clock_(clock) {}

  // `more` has been received, right behind what was added before.
  void Add(std::span<const std::byte> more);

  // `payload` is there. What was added need not have been of it, nor end where it ends: a peer may
  // put more into a slot, or elsewhere, than it then says. The next payload begins.
  Checked Complete(std::span<const std::byte> payload);

 private:
  struct Part {
    Part(const std::byte* at, uint32_t piece_bytes) : begin(at), crcs(piece_bytes) {}
    const std::byte* begin;
    GrowingCrcs crcs;
    int64_t busy_ns = 0;
  };

  const uint32_t piece_bytes_;
  const Clock& clock_;
  std::optional<Part> part_;
};

}  // namespace tapedeck::dataplane
