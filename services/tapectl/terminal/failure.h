// How a failure ends the program.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/base/errors.h"
#include "services/rpc/convert/remedies.h"

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

using convert::Remedies;
using convert::Remedy;
using convert::Side;

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
