// One export, and that of a group.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/formats/io/subject.h"
#include "services/site/streams.h"
#include "services/tapectl/program/answer.h"
#include "services/tapectl/program/program.h"
#include "services/tapectl/program/sample_range.h"
#include "services/tapectl/terminal/interrupt.h"

namespace tapedeck::services::tapectl {

struct ExportOptions {
  RecordingChoice choice;  // its name is empty where a group is exported
  std::string group;       // empty: one recording
  std::string format;
  std::string to;          // a file; of a group a folder
  std::string collection;  // base name of the SigMF collection that it becomes one of
  SampleRange samples;
  uint64_t packet_samples = 0;
  bool resume = false;
  bool gaps = false;
};

absl::StatusOr<FileAnswer> ExportOne(const Program& program, InterruptWatch& interrupt,
                                     const ExportOptions& options);

// Each member as a pair NAME-MEMBER of SigMF in the folder, which is made if it is not there, and
// NAME.sigmf-collection, which is written last. Sample k of each file is sample k of the group:
// what a member lacks is zeros, and told as missing.
absl::Status ExportGroup(Program& program, InterruptWatch& interrupt, const ExportOptions& options);

}  // namespace tapedeck::services::tapectl
