// A recording's .sigmf-meta file: which samples it is about. What it says of them, contents.h has.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/files/input_file.h"

namespace tapedeck::services::sigmf {

// All of it is in memory while it is read, some ten times as large.
inline constexpr uint64_t kMaxMetaBytes = 16 << 20;

inline constexpr char kMetaSuffix[] = ".sigmf-meta";
inline constexpr char kDataSuffix[] = ".sigmf-data";

struct SigmfRecording {
  std::string path;  // of the meta, for errors
  std::string data_path;
  std::string datatype;  // as written
  uint64_t channels = 1;
  nlohmann::json object;  // all of it; keys of "core" have been checked
};

bool IsSigmfMeta(absl::string_view path);

// NOT_FOUND (FILE_NOT_FOUND) or INVALID_ARGUMENT (FILE_INVALID), with the place in the file. Does
// not look at the data file.
absl::StatusOr<SigmfRecording> ReadSigmfMeta(const files::InputFile& file);
// The same of what the file at `path` has in it.
absl::StatusOr<SigmfRecording> ParseSigmfMeta(const std::string& path, const std::string& text);

}  // namespace tapedeck::services::sigmf
