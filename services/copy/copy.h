// A recording, block by block, into a channel of the same storage node or of another one. What is
// read is checked there, and its CRC32C goes with it, so that the other node finds what has changed
// on the way. One thread that may wait.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/copy/pump.h"
#include "services/model/seams/catalog.h"
#include "services/rpc/storage_session/peer.h"

namespace tapedeck::services::copying {

// A copy that has begun, and the secret with which it goes on.
struct Checkpoint {
  std::string recording;
  std::string token;
};

struct CopyRequest {
  storage_session::Peer from;
  storage_session::Peer to;
  Recording source;  // closed
  // What gives its blocks from that one on where it is of several nodes or segments; null: `from`
  // plays it.
  std::function<absl::StatusOr<NextBlock>(uint64_t first)> play;
  Channel channel;                       // that takes it
  std::optional<Checkpoint> checkpoint;  // of a try that ended before
  uint64_t bytes_per_s = 0;              // 0: as fast as it goes
  // How long a node may be away.
  absl::Duration patience = absl::Minutes(2);
  // Called when a copy has begun, before anything is moved; an error ends it.
  std::function<absl::Status(const Checkpoint&)> begun;
  // Called with its name when it has all blocks, before it is sealed: what is noted of it now is
  // there whenever it looks whole. An error ends it. Null: nothing.
  std::function<absl::Status(const std::string& copy)> note;
  // Called again and again: bytes of blocks that are done, of all. False ends it.
  std::function<bool(uint64_t bytes)> progress;
};

// A closed recording from that block on, as its node plays it. The errors of Player::Begin.
absl::StatusOr<NextBlock> Play(const storage_session::Peer& peer, const Recording& recording,
                               uint64_t first = 0);

struct Copied {
  std::string recording;
  uint64_t first_block = 0;  // that this call has moved; of one that went on, not 0
  uint64_t bytes = 0;        // that it has moved
};

// Until all blocks are there at the channel's commit level and the copy is sealed. A node that goes
// away is waited for. CANCELLED (JOB_CANCELLED); what reading or recording fails with: what there
// is of the copy stays, and another call may go on with it within an hour.
absl::StatusOr<Copied> Copy(const CopyRequest& request);

// Whether `copy` holds all that `request` asks for (compare.h), as both are played. No faster than
// the request says.
absl::Status CompareCopy(const CopyRequest& request, const Recording& copy);

}  // namespace tapedeck::services::copying
