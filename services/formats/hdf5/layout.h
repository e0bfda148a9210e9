// How the samples of an HDF5 dataset lie in its file. Of this room alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/base/files/input_file.h"
#include "services/formats/hdf5/datasets.h"
#include "services/formats/io/subject.h"

namespace tapedeck::services::formats {

// The most ranges that are missing.
inline constexpr hsize_t kMostMissing = 65'536;

// INVALID_ARGUMENT (FILE_INVALID): the library would read the samples in other files, would hold
// too much at once, or lacks a filter; the file is too short for them.
absl::Status CheckLayout(const FoundSamples& samples, const files::InputFile& file);

// Samples that nobody wrote, in order: the library gives a fill value in their place.
// INVALID_ARGUMENT (FILE_INVALID): all of them, or too many ranges.
absl::StatusOr<std::vector<SampleRange>> UnwrittenIn(const FoundSamples& samples,
                                                     const std::string& path);

}  // namespace tapedeck::services::formats
