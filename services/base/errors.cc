#include "services/base/errors.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tapedeck::services {
namespace {

using Metadata = std::map<std::string, std::string>;

// Without what is not known.
Metadata Known(Metadata metadata) {
  std::erase_if(metadata, [](const auto& entry) { return entry.second.empty(); });
  return metadata;
}

absl::Status NoRecording(const absl::Status& status, absl::string_view recording,
                         absl::string_view moved_to) {
  return WithReason(
      status, "RECORDING_NOT_FOUND",
      Known({{"recording", std::string(recording)}, {"moved_to", std::string(moved_to)}}));
}

}  // namespace

absl::Status ArgumentInvalid(absl::string_view field, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(text), "ARGUMENT_INVALID",
                    {{"field", std::string(field)}});
}

absl::Status NameInvalid(absl::string_view name, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(text), "NAME_INVALID",
                    {{"name", std::string(name)}});
}

absl::Status BlockSizeInvalid(uint64_t block_bytes, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(text), "BLOCK_SIZE_INVALID",
                    {{"block_bytes", absl::StrCat(block_bytes)}});
}

absl::Status DatatypeInvalid(absl::string_view datatype, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(text), "DATATYPE_INVALID",
                    {{"datatype", std::string(datatype)}});
}

absl::Status ChannelInUse(absl::string_view channel, absl::string_view why) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(channel, " ", why)),
                    "CHANNEL_IN_USE", {{"channel", std::string(channel)}});
}

absl::Status RecordingNotFound(absl::string_view recording, absl::string_view text,
                               absl::StatusCode code) {
  return NoRecording(absl::Status(code, text), recording, "");
}

absl::Status RecordingBusy(absl::string_view recording, absl::string_view state,
                           absl::string_view text) {
  return WithReason(absl::FailedPreconditionError(text), "RECORDING_BUSY",
                    {{"recording", std::string(recording)}, {"state", std::string(state)}});
}

absl::Status RecordingMoved(absl::string_view recording, absl::string_view moved_to) {
  return NoRecording(
      absl::NotFoundError(absl::StrCat("recording ", recording, " has moved to ", moved_to)),
      recording, moved_to);
}

absl::Status BlockDamaged(const Damage& damage, absl::string_view text) {
  return WithReason(absl::DataLossError(text), "BLOCK_DAMAGED",
                    Known({{"recording", damage.recording},
                           {"blocks", absl::StrCat(damage.blocks)},
                           {"path", damage.path}}));
}

absl::Status LunNotResponding(absl::string_view lun, absl::string_view text) {
  return WithReason(absl::DeadlineExceededError(text), "LUN_NOT_RESPONDING",
                    {{"lun", std::string(lun)}});
}

absl::Status Draining(absl::string_view text) {
  return WithReason(absl::UnavailableError(text), "DRAINING");
}

absl::Status NodeUnreachable(absl::string_view node, absl::string_view text) {
  return WithReason(absl::UnavailableError(text), "NODE_UNREACHABLE",
                    {{"node", std::string(node)}});
}

absl::Status PeerLost(absl::string_view node, absl::string_view text) {
  return WithReason(absl::UnavailableError(text), "PEER_LOST", {{"node", std::string(node)}});
}

absl::Status RailUnknown(absl::string_view rail, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(text), "RAIL_UNKNOWN",
                    {{"rail", std::string(rail)}});
}

absl::Status JobCancelled(absl::string_view job) {
  return WithReason(absl::CancelledError("the job was cancelled"), "JOB_CANCELLED",
                    Known({{"job", std::string(job)}}));
}

absl::Status JobNotFound(absl::string_view job) {
  return WithReason(absl::NotFoundError(absl::StrCat("no job \"", job, "\"")), "JOB_NOT_FOUND",
                    {{"job", std::string(job)}});
}

absl::Status JobNotLive(absl::string_view job, absl::string_view why) {
  return WithReason(absl::FailedPreconditionError(
                        absl::StrCat(job, " ", why, "; tapectl jobs cancel ends it now")),
                    "JOB_NOT_LIVE", {{"job", std::string(job)}});
}

absl::Status StagesUnknown(absl::string_view kind, absl::string_view name) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(
                        "explain ", name,
                        ": the node has no stage times for it; it is older than these records, ",
                        "was salvaged after a crash, or has moved no block yet")),
                    "STAGES_UNKNOWN", {{std::string(kind), std::string(name)}});
}

absl::Status ProtocolViolation(const Breach& breach, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(text), "PROTOCOL_VIOLATION",
                    Known({{"message", std::string(breach.message)},
                           {"field", std::string(breach.field)},
                           {"peer", std::string(breach.peer)}}));
}

}  // namespace tapedeck::services
