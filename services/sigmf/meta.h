// What a pipeline needs from a SigMF recording's .sigmf-meta file.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/files/input_file.h"

namespace tapedeck::services::sigmf {

struct SigmfRecording {
  std::string data_path;
  std::string datatype;  // as written
  uint64_t channels = 1;
  // Some captures have header or trailing bytes that are no samples.
  bool has_foreign_bytes = false;
};

bool IsSigmfMeta(absl::string_view path);

// NOT_FOUND (FILE_NOT_FOUND) or INVALID_ARGUMENT (FILE_INVALID). Does not look at the data file.
absl::StatusOr<SigmfRecording> ReadSigmfMeta(const files::InputFile& file);
// The same of what the file at `path` has in it.
absl::StatusOr<SigmfRecording> ParseSigmfMeta(const std::string& path, absl::string_view text);

}  // namespace tapedeck::services::sigmf
