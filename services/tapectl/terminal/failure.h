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

// As the shell has it of a program that SIGPIPE ends.
inline constexpr int kReaderGoneStatus = 141;

// What each exit status means, for the help and the manual.
inline constexpr std::pair<int, const char*> kExitStatuses[] = {
    {0, "Done."},
    {1,
     "Any other failure; a job was cancelled; something is damaged. A block known to be missing is "
     "not damage."},
    {2, "The command line is wrong or asks for something impossible."},
    {3, "Something that it names does not exist."},
    {4, "The caller has no permission or is not known."},
    {5, "A node, or something that it needs, cannot be reached."},
    {kNotComparedStatus, "A verify sink compared nothing: the CRC32C of each block was right."},
    {10, "The doctor found warnings."},
    {11, "The doctor found errors."},
    {124, "It did not end within its time limit."},
    {130, "Ctrl-C (SIGINT) ended it."},
    {kReaderGoneStatus, "The program that read its output ended (SIGPIPE)."}};

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
    {"playhead", "play", "the start position"},
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
