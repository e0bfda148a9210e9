// --from-sample and --to-sample, of every command that takes some of a recording's samples.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "services/base/command_line/command_line.h"

namespace tapedeck::services::tapectl {

// Counted from 0 at the start of what is named.
struct SampleRange {
  int64_t from = 0;
  uint64_t to = 0;  // behind the last one; 0: to the end

  // 0: to the end. INVALID_ARGUMENT (ARGUMENT_INVALID): it ends before it begins.
  absl::StatusOr<uint64_t> count() const;
};

inline constexpr char kFromSample[] = "--from-sample";
inline constexpr char kToSample[] = "--to-sample";

void AddSampleRange(command_line::Command command, SampleRange& range);

}  // namespace tapedeck::services::tapectl
