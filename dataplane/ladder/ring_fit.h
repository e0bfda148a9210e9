// A ring and its registration on the rails of one session, as large as the machine allows. If the
// rails cannot register the whole ring, it gets smaller, and a warning says why and what helps.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/memory/slot_pool.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::ladder {

// The window of a ring on some rails, once each: a Domain per rail, in their order. Moved along
// with the ring; the domains go before its memory.
struct Registration {
  RemoteAccess access = RemoteAccess::kNone;
  std::vector<std::shared_ptr<Domain>> domains;
};

struct RingRequest {
  std::vector<Transport*> rails;
  RemoteAccess access = RemoteAccess::kNone;
  size_t slots = 0;      // wanted
  size_t min_slots = 0;  // fewer are no ring
  // Makes a ring of that many slots. RESOURCE_EXHAUSTED asks for a smaller one.
  std::function<absl::StatusOr<std::shared_ptr<SlotPool>>(size_t slots)> make;
  // Host memory of kSpareBytes, registered on every rail while the ring is fitted, so that a ring
  // does not take what the connections will need. None: no such care.
  MemoryWindow spare;
};

// The queues and messages of eight connections of a rail, which are locked memory, too.
inline constexpr size_t kSpareBytes = 1 << 20;

struct FittedRing {
  std::shared_ptr<SlotPool> ring;
  Registration registration;
  std::string warning;  // empty if it has all slots
};

// Halves the ring until it can be made and registered on every rail. Registered memory counts
// against the limit of locked memory once for each rail, so what fits one rail may not fit two. The
// least ring is taken without anything to spare.
// Any thread that may wait. RESOURCE_EXHAUSTED, with the cause's reason, if min_slots do not fit;
// other errors of make and OpenDomain as they are.
absl::StatusOr<FittedRing> FitRing(const RingRequest& request);

}  // namespace tapedeck::dataplane::ladder
