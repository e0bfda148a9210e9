#include "services/base/process/grace.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/command_line/units.h"

namespace tapedeck::services {

absl::StatusOr<absl::Duration> ParseGrace(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const int64_t ns, command_line::ParseDurationNs(text));
  const absl::Duration grace = absl::Nanoseconds(ns);
  if (grace >= kLeastGrace && grace <= kMostGrace) return grace;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not from ",
                                                 absl::FormatDuration(kLeastGrace), " to ",
                                                 absl::FormatDuration(kMostGrace)));
}

void AddGraceOption(const command_line::Command& daemon, absl::Duration& grace,
                    absl::string_view until) {
  daemon.AddParsed("--grace", grace, ParseGrace,
                   absl::StrCat("Time limit of a shutdown, e.g. 60s: ", until, "; ",
                                absl::FormatDuration(kDefaultGrace), " by default"));
}

}  // namespace tapedeck::services
