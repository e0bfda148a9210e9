// The text of a mark: JSON with a name and a version of its own.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "services/formats/io/export_file.h"

namespace tapedeck::services::formats {

std::string EncodeMark(const ExportMark& mark);
// INVALID_ARGUMENT (FILE_INVALID) names `path`.
absl::StatusOr<ExportMark> DecodeMark(const std::string& path, const std::string& text);

}  // namespace tapedeck::services::formats
