// The formats of this build: the one place that knows them all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/formats/io/reader.h"
#include "services/formats/io/writer.h"

namespace tapedeck::services::formats {

struct Format {
  std::string name;
  std::string help;
  // An export that was broken off can be gone on with.
  bool resumable = false;
  // A file of it says which of its samples are missing.
  bool tells_gaps = false;
  // A file of it says what made the samples, and so whether they are spectra.
  bool tells_transforms = false;
  // What is missing or lost is not in a file of it, instead of zeros.
  bool leaves_out = false;
  // It can go into a stream, or come out of one.
  bool writes_streams = false;
  bool reads_streams = false;
  // A file of it tells the frequency of its first sample alone.
  bool one_frequency = false;
  // The file that gets the samples, of what a user named.
  std::function<std::string(const std::string& named)> file;
  // INVALID_ARGUMENT (ARGUMENT_INVALID, DATATYPE_INVALID): it has no room for such samples. Null:
  // it is only read; and the other way round.
  std::function<absl::StatusOr<std::unique_ptr<Writer>>(const Subject&, const WriterOptions&)>
      write;
  // NOT_FOUND (FILE_NOT_FOUND), INVALID_ARGUMENT (FILE_INVALID).
  std::function<absl::StatusOr<std::unique_ptr<Reader>>(const std::string& path,
                                                        const ReadOptions& options)>
      read;
  // The option by which one of several recordings in a file is chosen; empty: it has but one.
  std::string chosen_by = {};
};

enum class Use { kExport, kImport };
// INVALID_ARGUMENT (ARGUMENT_INVALID): the path is a stream, and the format needs a file.
absl::Status CheckStream(const Format& format, const std::string& path, Use use);

std::vector<Format> FormatsFor(Use use);

// INVALID_ARGUMENT (ARGUMENT_INVALID) names those there are.
absl::StatusOr<Format> FormatNamed(const std::string& name, Use use);

}  // namespace tapedeck::services::formats
