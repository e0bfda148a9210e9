// What one node has of a recording in parts. One thread that may wait.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/copy/block_set.h"
#include "services/model/recording/part.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/recorder_client.h"
#include "services/rpc/storage_session/peer.h"

namespace tapedeck::services::copying {

// A storage node, as it is asked. Who made the clients keeps them.
struct PartNode {
  storage_session::Peer peer;
  client::CatalogClient* catalog = nullptr;
  client::RecorderClient* recorder = nullptr;
};

struct PartState {
  std::optional<Recording> recording;  // none: the node has no part
  model::Part part;
  BlockSet whole;    // blocks of the stream that can be read
  BlockSet damaged;  // of the stream, whose bytes are not what was recorded
  BlockSet missing;  // of the stream, for which it has a place, and nothing there
};

// The part of `name` that the node has, as its recording says; none. Of what is another recording
// under that name INVALID_ARGUMENT (ARGUMENT_INVALID), FAILED_PRECONDITION (CHANNEL_IN_USE) of what
// is being recorded.
absl::StatusOr<PartState> FindPart(const PartNode& node, const std::string& name);

// Reads all of it, twice: where it lies, which tells what is wrong with a block, and as it is
// played, which tells which blocks of the stream they are. `progress` as CopyRequest has it.
absl::Status ReadPart(const PartNode& node, absl::Duration timeout,
                      const std::function<bool(uint64_t bytes)>& progress, PartState* state);

}  // namespace tapedeck::services::copying
