// The ring of one session: in memory of the device where every rail of the session reaches that,
// else in host memory; as large as the machine allows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/ladder/ring_fit.h"
#include "dataplane/transport/transport.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/pipeline/memory_ladder.h"
#include "services/model/words/note.h"
#include "services/session/protocol/messages.h"

namespace tapedeck::gpu_worker::transfer {

// A sender keeps a block until a flush has made it durable: with fewer than 128 blocks of 1 MiB the
// rails wait for the disk. Twice as many would not fit a GPU window (BAR1) of 256 MiB.
inline constexpr uint64_t kDefaultRingBytes = 128 << 20;

struct RingSettings {
  device::Device* device = nullptr;
  pipeline::MemoryLadder* ladder = nullptr;
  std::vector<dataplane::Transport*> rails;  // of the job
  services::session::Direction direction = services::session::Direction::kRecord;
  dataplane::TransferOp op = dataplane::TransferOp::kRead;  // the one expected
  uint32_t slots = 0;                                       // asked for; 0: by the block's size
  uint64_t block_bytes = 0;
  size_t run = 1;     // slots that are lent side by side
  bool host = false;  // in host memory, also where device memory could be reached
};

// Members are moved on; the registration goes before the ring.
struct TransferRing {
  std::shared_ptr<dataplane::SlotPool> ring;
  dataplane::ladder::Registration registration;
  services::Notes notes;  // for the job: which rung and why, and a warning if it is small

  bool direct() const { return !ring->window().host_accessible; }
};

// Waits for probes and registrations. RESOURCE_EXHAUSTED (MEMLOCK_TOO_LOW) if not even the smallest
// ring fits. A direct ring that does not fit gives way to the bounce, and a note says so. On a rail
// of kind ipc the ring is one that other processes open: INVALID_ARGUMENT (ARGUMENT_INVALID) where
// it can be none.
absl::StatusOr<TransferRing> MakeTransferRing(const RingSettings& settings);

}  // namespace tapedeck::gpu_worker::transfer
