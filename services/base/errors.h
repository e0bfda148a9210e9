// An error of ours is an absl::Status whose payload carries a google.rpc.ErrorInfo reason. The data
// plane gives reasons, too, so they are made there. What several places refuse has one function for
// each reason, which has its code and its metadata; the text says what failed and what helps.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataplane/errors.h"
#include "dataplane/reason.h"

namespace tapedeck::services {

using dataplane::DeviceFailed;
using dataplane::ErrorReason;
using dataplane::LimitReached;
using dataplane::RailUnreachable;
using dataplane::ReasonOf;
using dataplane::VersionMismatch;
using dataplane::WithReason;

// Fields of a request.

// INVALID_ARGUMENT (ARGUMENT_INVALID).
absl::Status ArgumentInvalid(absl::string_view field, absl::string_view text);
// INVALID_ARGUMENT (NAME_INVALID).
absl::Status NameInvalid(absl::string_view name, absl::string_view text);
// INVALID_ARGUMENT (BLOCK_SIZE_INVALID).
absl::Status BlockSizeInvalid(uint64_t block_bytes, absl::string_view text);
// INVALID_ARGUMENT (DATATYPE_INVALID).
absl::Status DatatypeInvalid(absl::string_view datatype, absl::string_view text);

// Channels, recordings and their blocks.

// FAILED_PRECONDITION (CHANNEL_IN_USE): "CHANNEL WHY".
absl::Status ChannelInUse(absl::string_view channel, absl::string_view why);
// RECORDING_NOT_FOUND: NOT_FOUND, or DATA_LOSS where it went before its player came to it.
absl::Status RecordingNotFound(absl::string_view recording, absl::string_view text,
                               absl::StatusCode code = absl::StatusCode::kNotFound);
// FAILED_PRECONDITION (RECORDING_BUSY). `state`: RECORDING while it is written, IN_USE, or what it
// has become.
absl::Status RecordingBusy(absl::string_view recording, absl::string_view state,
                           absl::string_view text);
// RECORDING_NOT_FOUND of one that has gone to `moved_to`, another recording.
absl::Status RecordingMoved(absl::string_view recording, absl::string_view moved_to);

// What is damaged: so many blocks of a recording, or of what is in a file. May be empty.
struct Damage {
  std::string recording;
  uint64_t blocks = 0;
  std::string path;
};
// DATA_LOSS (BLOCK_DAMAGED).
absl::Status BlockDamaged(const Damage& damage, absl::string_view text);

// DEADLINE_EXCEEDED (LUN_NOT_RESPONDING): the disks of `lun`, luns/{lun}.
absl::Status LunNotResponding(absl::string_view lun, absl::string_view text);

// Nodes and sessions.

// UNAVAILABLE (DRAINING).
absl::Status Draining(absl::string_view text);
// UNAVAILABLE (NODE_UNREACHABLE): there was no contact with `node`.
absl::Status NodeUnreachable(absl::string_view node, absl::string_view text);
// UNAVAILABLE (PEER_LOST): there was.
absl::Status PeerLost(absl::string_view node, absl::string_view text);
// INVALID_ARGUMENT (RAIL_UNKNOWN).
absl::Status RailUnknown(absl::string_view rail, absl::string_view text);
// CANCELLED (JOB_CANCELLED). A session does not know the name of its job.
absl::Status JobCancelled(absl::string_view job = "");
// NOT_FOUND (JOB_NOT_FOUND). Also where the caller may not know of it.
absl::Status JobNotFound(absl::string_view job);
// FAILED_PRECONDITION (JOB_NOT_LIVE): it cannot be stopped well, for that reason.
absl::Status JobNotLive(absl::string_view job, absl::string_view why);

// FAILED_PRECONDITION (STAGES_UNKNOWN). `kind` is "job" or "recording".
absl::Status StagesUnknown(absl::string_view kind, absl::string_view name);

// What a peer has broken: a field of a message, where these are known.
struct Breach {
  absl::string_view message;
  absl::string_view field = {};
  absl::string_view peer = {};
};
// INVALID_ARGUMENT (PROTOCOL_VIOLATION).
absl::Status ProtocolViolation(const Breach& breach, absl::string_view text);

}  // namespace tapedeck::services
