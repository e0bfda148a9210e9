// How a failure ends the program.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/base/errors.h"

namespace tapedeck::services::tapectl {

// A verify sink compared no block with its source.
inline constexpr int kNotComparedStatus = 6;

// What each exit status means, for the manual.
inline constexpr std::pair<int, const char*> kExitStatuses[] = {
    {0, "Done."},
    {1,
     "It failed in a way that is not named below; a job was cancelled; something is "
     "damaged. A block that is known to be missing is no damage."},
    {2, "The line is wrong, or names something impossible."},
    {3, "What it names is not there."},
    {4, "The caller may not do that, or is not known."},
    {5, "A node, or something that it needs, cannot be reached."},
    {kNotComparedStatus, "A verify sink compared nothing: the CRC32C of each block was right."},
    {10, "Of the doctor: warnings."},
    {11, "Of the doctor: errors."},
    {124, "It did not end in time."}};

// Where what failed lies.
enum class Side {
  kAny,
  kHere,  // tapectl's own machine
  kNode,  // that of the worker or of a storage node
};

// What to do about a reason, where the message does not say it already.
struct Remedy {
  absl::string_view reason;
  absl::string_view commands = {};  // "play, receive"; empty: all
  Side side = Side::kAny;
  // What the reason's metadata has to hold, "member" or "option=sessions"; empty: anything.
  absl::string_view detail = {};
  absl::string_view text;
};

// Of several lines that fit the first one counts.
inline constexpr Remedy kRemedies[] = {
    {.reason = "LUN_NOT_FOUND", .text = "see tapectl lun list"},
    {.reason = "LUN_EXISTS",
     .commands = "lun attach",
     .text = "give another name: --name; a copy of the LUN needs --as-new too"},
    {.reason = "LUN_EXISTS", .text = "see tapectl lun list"},
    {.reason = "LUN_NOT_EMPTY",
     .commands = "lun delete",
     .text = "to let go of it and keep what it holds: tapectl lun detach"},
    {.reason = "LUN_FULL",
     .detail = "lacks=disk",
     .text = "make the recording shorter, or make room on the LUN's disks; tapectl lun list shows "
             "what they have"},
    {.reason = "LUN_FULL",
     .detail = "lacks=capacity",
     .text = "make the recording shorter, or record into a larger LUN; where its store allows, the "
             "limit can be raised: tapectl lun update --capacity"},
    {.reason = "LUN_FULL",
     .detail = "member",
     .text = "delete what is not needed: tapectl recordings delete; or let policies delete kept "
             "recordings: tapectl keep --release"},
    {.reason = "LUN_FULL",
     .text = "delete what is not needed: tapectl recordings delete; let policies delete kept "
             "recordings: tapectl keep --release; raise the limit: tapectl lun update --capacity; "
             "or delete old ones from now on: tapectl lun update --max-age"},
    {.reason = "LUN_OFFLINE",
     .text = "give its members back, or tell where they are now: tapectl lun attach --member"},
    {.reason = "CHANNEL_NOT_FOUND", .text = "see tapectl channel list"},
    {.reason = "CHANNEL_EXISTS", .text = "see tapectl channel list"},
    {.reason = "RECORDING_NOT_FOUND", .text = "see tapectl recordings list"},
    {.reason = "RECORDING_BUSY", .text = "wait for its job to end, see tapectl jobs list"},
    {.reason = "BLOCK_SIZE_INVALID",
     .text = "give a multiple of 4KiB from 64KiB to 8MiB, for example 1MiB"},
    {.reason = "DATATYPE_INVALID",
     .commands = "recordings export",
     .text = "give another --format"},
    {.reason = "DATATYPE_INVALID", .text = "give a SigMF datatype, for example cf32_le or ci16_le"},
    {.reason = "MEMBER_UNUSABLE",
     .text = "see that its disk is mounted and that the storage node may write there"},
    {.reason = "RAIL_UNREACHABLE",
     .text = "check the address of the rail on both nodes, see tapectl nodes"},
    {.reason = "RAIL_UNKNOWN", .text = "see tapectl nodes for the rails"},
    {.reason = "ALL_RAILS_DOWN", .text = "check the network ports, see tapectl nodes"},
    {.reason = "VERSION_MISMATCH", .text = "run the same version on both nodes"},
    {.reason = "PEER_LOST",
     .commands =
         "record, receive, jobs attach, recordings import, recordings copy, recordings move",
     .text = "check that the node runs; what was durable is kept"},
    {.reason = "PEER_LOST", .text = "check that the node runs"},
    // Its message says what to do; a verification finds nothing damaged where samples are lost.
    {.reason = "BLOCK_DAMAGED", .commands = "recordings export", .text = ""},
    {.reason = "BLOCK_DAMAGED", .text = "see tapectl recordings verify"},
    {.reason = "FILE_NOT_FOUND",
     .side = Side::kNode,
     .text = "give a path on the worker's machine"},
    {.reason = "FILE_NOT_FOUND",
     .commands = "recordings export, manual, trace",
     .text = "give a path in a directory of this machine that you may write into"},
    {.reason = "FILE_NOT_FOUND", .text = "give a path on this machine that you may read"},
    {.reason = "FILE_EXISTS",
     .commands = "play, receive",
     .side = Side::kNode,
     .text = "give another path on the worker's machine, or --replace"},
    {.reason = "FILE_EXISTS",
     .side = Side::kNode,
     .text = "give another path on the worker's machine"},
    {.reason = "FILE_EXISTS", .commands = "trace", .text = "give another path, or --replace"},
    {.reason = "FILE_EXISTS", .text = "give another path"},
    {.reason = "STORE_IO", .side = Side::kHere, .text = "check the disk of that path"},
    {.reason = "STORE_IO",
     .commands = "play, receive, jobs attach",
     .text = "check the disk of that path, and see the log of the node that has it"},
    {.reason = "STORE_IO", .text = "see the storage node's log and check its disk"},
    {.reason = "DEVICE_UNUSABLE", .text = "start the worker with --device host"},
    {.reason = "JOB_NOT_FOUND", .text = "see tapectl jobs list"},
    {.reason = "LIMIT_REACHED",
     .detail = "option=sessions",
     .text = "wait for a session to end, see tapectl jobs list"},
    {.reason = "ACCESS_DENIED", .text = "ask for a role in the node's policy"},
    {.reason = "DRAINING", .text = "try again when the node is up"},
};

// What the API calls `field`, as the line of these commands does.
struct OptionOfField {
  absl::string_view field;
  absl::string_view commands;
  absl::string_view option;
};

// A message that begins with such a field begins with the option instead.
inline constexpr OptionOfField kOptionsOfFields[] = {
    {"pacing.rate_factor", "play", "--rate"},
    {"pacing.end_sample", "play", "--to-sample"},
    {"pacing.loop_count", "play", "--loop-count"},
    {"pacing.loop", "play", "--loop"},
    {"pacing.at", "play", "--at"},
    {"playhead", "play", "the place to begin at"},
    {"at", "record", "--at"},
    {"limit", "record", "--blocks or --duration"},
    {"transforms", "record, play, receive", "--transform"},
    {"slots", "record, play, receive", "--slots"},
    {"copies", "record", "--copies"},
    {"outputs", "record", "--also"}};

// Empty: there is none that the message lacks, or it is the command that has just failed.
absl::string_view RemedyOf(absl::string_view command, const ErrorReason& reason, Side side);

// One of them.
int ExitCodeOf(const absl::Status& status);

// "tapectl: record: LUN full ... [LUN_FULL] — delete what is not needed: tapectl recordings delete"
std::string FailureLine(const std::string& what, const absl::Status& status);

}  // namespace tapedeck::services::tapectl
