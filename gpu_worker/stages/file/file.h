// The file source: raw samples, or a SigMF recording given by its .sigmf-meta. Bytes pass through
// as they are, read straight into the slot; or every sample of a SigMF recording is converted to
// cf32_le, where the first transform takes that. What a SigMF recording says of its samples (their
// time, captures, annotations) goes along, unless the file is repeated; its gaps become zeros with
// an annotation `lost`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "services/model/words/note.h"

namespace tapedeck::gpu_worker::stages::file {

// What the source and the sink are told.
struct SourceParameters {
  std::string path;   // on the worker's machine
  bool loop = false;  // start again at the end
};

absl::StatusOr<SourceParameters> ParseSource(const services::StageParameters& given);
Description DescribeSource(const SourceParameters& parameters);

struct SinkParameters {
  std::string path;      // on the worker's machine
  bool replace = false;  // the file that is there, once the playback has ended well
};

absl::StatusOr<SinkParameters> ParseSink(const services::StageParameters& given);
Description DescribeSink(const SinkParameters& parameters);

struct SourceSettings {
  services::files::FileRoots files;
  std::string path;
  std::string raw_datatype;  // that is wanted; what a file that is not SigMF holds
  double sample_rate = 0;    // of what it makes; 0: unknown
  bool loop = false;
  bool from_instant = false;  // what it makes counts from a group's instant
  bool transformed = false;   // what it makes goes into a transform
};

struct OpenedSource {
  std::unique_ptr<SourceStage> stage;
  std::string datatype;                                  // of the file
  uint64_t bytes = 0;                                    // what one pass makes, after conversion
  std::string metadata;                                  // of a SigMF recording, for the origin
  std::vector<services::model::OriginStage> transforms;  // that made its samples, it says
  std::shared_ptr<StageReport> report;                   // its annotations; null: it has none
  services::Notes notes;                                 // what the job should say
};

// NOT_FOUND (FILE_NOT_FOUND), INVALID_ARGUMENT (FILE_INVALID), PERMISSION_DENIED
// (FILE_OUTSIDE_ROOTS).
absl::StatusOr<OpenedSource> OpenSource(const SourceSettings& settings);

// Opens the file for a channel. The same errors, also where the channel is of another datatype.
absl::StatusOr<MadeSource> CreateSource(const SourceParameters& parameters,
                                        const SourceSetup& setup);

// The file sink: each block's payload at sequence * block_bytes, in any order. A missing block
// leaves a hole and an error at the end; samples that were lost before the recording are zeros, and
// a note at the end. Writes beside the path (see services/base/files/part_file.h): only a playback
// that ends well puts its file there, and one that fails leaves nothing. A recording with missing
// blocks leaves its part file, and the error names it. ALREADY_EXISTS (FILE_EXISTS),
// INVALID_ARGUMENT (FILE_INVALID), NOT_FOUND (FILE_NOT_FOUND), PERMISSION_DENIED
// (FILE_OUTSIDE_ROOTS).
absl::StatusOr<MadeSink> CreateSink(const SinkParameters& parameters, const SinkSetup& setup);

}  // namespace tapedeck::gpu_worker::stages::file
