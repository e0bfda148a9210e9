#include "services/tapectl/program/sample_range.h"

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/site/units.h"

namespace tapedeck::services::tapectl {

absl::StatusOr<uint64_t> SampleRange::count() const {
  const auto first = static_cast<uint64_t>(from);
  if (to == 0) return 0;
  if (to > first) return to - first;
  return ArgumentInvalid(
      "to_sample", absl::StrCat(kToSample, " ", to, " is not behind ", kFromSample, " ", first));
}

void AddSampleRange(command_line::Command command, SampleRange& range) {
  command.AddParsed(kFromSample, range.from, ParseNumber,
                    "Start at this sample, counted from 0; default 0");
  command.AddParsed(kToSample, range.to, ParseCount, "Stop before this sample; default the end");
}

}  // namespace tapedeck::services::tapectl
