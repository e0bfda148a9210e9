// How a failure ends the program.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::tapectl {

// A verify sink compared no block with its source.
inline constexpr int kNotComparedStatus = 6;

// What each exit status means, for the manual.
inline constexpr std::pair<int, const char*> kExitStatuses[] = {
    {0, "Done."},
    {1, "It failed in a way that is not named below; a job was cancelled; something is damaged."},
    {2, "The line is wrong, or names something impossible."},
    {3, "What it names is not there."},
    {4, "The caller may not do that, or is not known."},
    {5, "A node, or something that it needs, cannot be reached."},
    {kNotComparedStatus, "A verify sink compared nothing: the CRC32C of each block was right."},
    {10, "Of the doctor: warnings."},
    {11, "Of the doctor: errors."},
    {124, "It did not end in time."}};

// What to do about a reason, where the message does not say it already.
struct Remedy {
  absl::string_view reason;
  absl::string_view commands;  // "play, receive"; empty: all that no line above names
  absl::string_view text;
};

inline constexpr Remedy kRemedies[] = {
    {"LUN_NOT_FOUND", "", "see tapectl lun list"},
    {"LUN_EXISTS", "", "see tapectl lun list"},
    {"LUN_NOT_EMPTY", "", "to let go of it and keep what it holds: tapectl lun detach"},
    {"LUN_FULL", "",
     "delete what is not needed: tapectl recordings delete; or raise the limit: tapectl lun update "
     "--capacity"},
    {"LUN_OFFLINE", "",
     "give its members back, or tell where they are now: tapectl lun attach --member"},
    {"CHANNEL_NOT_FOUND", "", "see tapectl channel list"},
    {"CHANNEL_EXISTS", "", "see tapectl channel list"},
    {"RECORDING_NOT_FOUND", "", "see tapectl recordings list"},
    {"RECORDING_BUSY", "", "wait for its job to end, see tapectl jobs list"},
    {"BLOCK_SIZE_INVALID", "", "give a multiple of 4KiB from 64KiB to 8MiB, for example 1MiB"},
    {"DATATYPE_INVALID", "", "give a SigMF datatype, for example cf32_le or ci16_le"},
    {"MEMBER_UNUSABLE", "",
     "see that its disk is mounted and that the storage node may write there"},
    {"RAIL_UNREACHABLE", "", "check the address of the rail on both nodes, see tapectl nodes"},
    {"RAIL_UNKNOWN", "", "see tapectl nodes for the rails"},
    {"ALL_RAILS_DOWN", "", "check the network ports, see tapectl nodes"},
    {"VERSION_MISMATCH", "", "run the same version on both nodes"},
    {"PEER_LOST", "", "check that the node runs; what was durable is kept"},
    {"BLOCK_DAMAGED", "", "see tapectl recordings verify"},
    {"FILE_NOT_FOUND", "record, play, receive", "give a path on the worker's machine"},
    {"FILE_NOT_FOUND", "", "give a path on this machine that you may read"},
    {"FILE_EXISTS", "play, receive", "give another path there, or --replace"},
    {"FILE_EXISTS", "recordings export", "give another path, or --resume an export of before"},
    {"FILE_EXISTS", "", "give another path"},
    {"DEVICE_UNUSABLE", "", "start the worker with --device host"},
    {"JOB_NOT_FOUND", "", "see tapectl jobs list"},
    {"STORE_IO", "", "see the storage node's log and check its disk"},
    {"LIMIT_REACHED", "", "wait for other work to end"},
    {"ACCESS_DENIED", "", "the node's policy gives roles to identities"},
    {"DRAINING", "", "try again when the node is up"},
};

// One of them.
int ExitCodeOf(const absl::Status& status);

// "tapectl: record: LUN full ... [LUN_FULL] — delete recordings or raise the capacity"
std::string FailureLine(const std::string& what, const absl::Status& status);

}  // namespace tapedeck::services::tapectl
