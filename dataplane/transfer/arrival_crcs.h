// The check values of payloads that arrived in host memory. The receiving poller computes them
// while the payload is in its cache. They wait here for the code that compares them and the code
// that keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "dataplane/clock.h"
#include "dataplane/crc/payload_crc.h"
#include "dataplane/crc/piece_crcs.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::dataplane {

// On the session's executor. Shared by the links of a receiving end, which bring the values, and by
// a writer that keeps those of the pieces.
class ArrivalCrcs final : public PayloadCrc {
 public:
  static constexpr uint32_t kWhole = UINT32_MAX;  // one piece

  explicit ArrivalCrcs(uint32_t piece_bytes = kWhole) : piece_bytes_(piece_bytes) {}

  uint32_t piece_bytes() const { return piece_bytes_; }

  // `pieces` of `payload`, which has arrived; `poller` took `busy_ns` to compute them.
  void Arrived(std::span<const std::byte> payload, PieceCrcs pieces, const Executor* poller,
               int64_t busy_ns);

  // Of the payload that arrived last at this address; computed now if no poller has. Inline.
  void Compute(std::span<const std::byte> payload, Done done) override;

  // The same, of the pieces, which are forgotten here.
  PieceCrcs Take(std::span<const std::byte> payload);

  // Of the poller that took longest.
  int64_t busy_ns() const;

 private:
  struct Entry {
    PieceCrcs pieces;
    bool fresh = false;  // nobody has compared them
  };

  const uint32_t piece_bytes_;
  // By address: as many as the ring has slots, at most.
  std::unordered_map<const std::byte*, Entry> arrived_;
  std::map<const Executor*, int64_t> busy_ns_;
};

// The check values of a payload that comes over a connection. The receiver computes them while the
// bytes are in its cache.
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
