#include "services/tapectl/failure.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/errors.h"

namespace tapedeck::services::tapectl {
namespace {

// What to do about each reason, where the message does not say it already.
constexpr std::pair<absl::string_view, absl::string_view> kRemedies[] = {
    {"LUN_NOT_FOUND", "see tapectl lun list"},
    {"LUN_EXISTS", "choose another name, or see tapectl lun list"},
    {"LUN_NOT_EMPTY", "to let go of it and keep what it holds: tapectl lun detach"},
    {"LUN_FULL", "make a LUN with a larger --capacity, or delete what is not needed"},
    {"LUN_OFFLINE", "give its members back, or tell where they are now: tapectl lun attach"},
    {"CHANNEL_NOT_FOUND", "see tapectl channel list"},
    {"CHANNEL_EXISTS", "choose another name, or see tapectl channel list"},
    {"RECORDING_NOT_FOUND", "see tapectl recordings list"},
    {"RECORDING_BUSY", "wait for its job to end, see tapectl jobs list"},
    {"BLOCK_SIZE_INVALID", "give a multiple of 4KiB from 64KiB to 8MiB, for example 1MiB"},
    {"DATATYPE_INVALID", "give a SigMF datatype, for example cf32_le or ci16_le"},
    {"MEMBER_UNUSABLE", "see that its disk is mounted and that the storage node may write there"},
    {"RAIL_UNREACHABLE", "check the address of the rail on both nodes, see tapectl nodes"},
    {"RAIL_UNKNOWN", "see tapectl nodes for the rails"},
    {"ALL_RAILS_DOWN", "check the network ports, see tapectl nodes"},
    {"VERSION_MISMATCH", "run the same version on both nodes"},
    {"PEER_LOST", "check that the node runs; what was durable is kept"},
    {"BLOCK_DAMAGED", "see tapectl recordings verify"},
    {"FILE_NOT_FOUND", "give a path on the worker's machine"},
    {"FILE_EXISTS", "another path; of a playback, on the worker's machine, --replace replaces it"},
    {"DEVICE_UNUSABLE", "start the worker with --device host"},
    {"JOB_NOT_FOUND", "see tapectl jobs list"},
    {"STORE_IO", "see the storage node's log and check its disk"},
    {"LIMIT_REACHED", "wait for other work to end"},
    {"ACCESS_DENIED", "the node's policy gives roles to identities"},
    {"DRAINING", "try again when the node is up"},
};

std::string RemedyOf(absl::string_view reason) {
  const auto* found = std::find_if(std::begin(kRemedies), std::end(kRemedies),
                                   [reason](const auto& remedy) { return remedy.first == reason; });
  return found == std::end(kRemedies) ? "" : absl::StrCat(" — ", found->second);
}

}  // namespace

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
      return 2;
    case absl::StatusCode::kNotFound:
      return 3;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return 4;
    case absl::StatusCode::kUnavailable:
      return 5;
    case absl::StatusCode::kDeadlineExceeded:
      return 124;
    default:
      return 1;
  }
}

std::string FailureLine(const std::string& what, const absl::Status& status) {
  const auto reason = ReasonOf(status);
  std::string line = absl::StrCat("tapectl: ", what, ": ", dataplane::Printable(status.message()));
  if (reason.has_value()) {
    absl::StrAppend(&line, " [", reason->reason, "]", RemedyOf(reason->reason));
  } else {
    absl::StrAppend(&line, " [", absl::StatusCodeToString(status.code()), "]");
  }
  return line;
}

}  // namespace tapedeck::services::tapectl
