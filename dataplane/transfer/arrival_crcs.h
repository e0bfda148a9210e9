// The check values of payloads that arrived in host memory. The receiving poller computes them
// while the payload is in its cache. They wait here for the code that compares them and the code
// that keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>

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

}  // namespace tapedeck::dataplane
