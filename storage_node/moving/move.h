// Moves one recording to another LUN of the node. The move copies it, reads the copy back, compares
// the two, and only then deletes the original. After a kill between any two steps the move can be
// asked for again: a whole recording is always there under its name. On the mover's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "services/copy/pace.h"
#include "storage_node/admission/node_resources.h"

namespace tapedeck::storage_node::moving {

// Makes a channel, as CreateChannel of a client does.
using MakeChannel = std::function<absl::Status(const services::Channel&)>;

struct MoveRequest {
  std::string recording;
  services::Channel channel;  // its own, with `move_to`
  int64_t now_ns = 0;
};

// Whether the policy of its channel has a recording moved at `now_ns`: it was closed in order long
// enough ago, and is neither kept, nor a segment, nor a part of one that several nodes hold.
bool IsDue(const format::Manifest& manifest, const services::Channel& channel, int64_t now_ns);

enum class MoveOutcome {
  kMoved,
  kInUse,   // somebody plays it, or changes what is noted of it: it may be asked for again
  kNotDue,  // it is gone, or not to be moved any more
};

struct Moved {
  MoveOutcome end = MoveOutcome::kNotDue;
  std::string copy;  // of kMoved
  uint64_t bytes = 0;
};

// Whether an error is of the recording itself: others of its channel may be moved all the same.
bool IsOfRecording(const absl::Status& status, const std::string& recording);

// NOT_FOUND (LUN_NOT_FOUND), FAILED_PRECONDITION (LUN_OFFLINE), INVALID_ARGUMENT
// (ARGUMENT_INVALID): the channel there holds something else, or the LUN is none that takes it;
// what CopyBlocks and VerifyCopy fail with. The recording stays then, and a copy that is not whole
// is deleted unless that fails, too.
absl::StatusOr<Moved> Move(admission::NodeResources& resources, const MoveRequest& request,
                           const MakeChannel& make_channel, services::copying::Pace& pace);

// INVALID_ARGUMENT (ARGUMENT_INVALID): the LUN is none that recordings are moved to.
absl::Status CheckTakesMoved(const luns::OpenLun& lun);

// Follows the channels of that name from one LUN to the next, beginning with `to`, where those of
// `channel` go. INVALID_ARGUMENT (ARGUMENT_INVALID): they would come back. Of a LUN that is offline
// the catalog is believed.
absl::Status CheckNoWayBack(recordings::Recordings& recordings, const services::Channel& channel,
                            catalog::ResourceName to);

}  // namespace tapedeck::storage_node::moving
