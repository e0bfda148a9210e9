// The dataset of an HDF5 file that holds samples, among all that it has: what its attributes say of
// them, and how they lie in the file. Of this room alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/files/input_file.h"
#include "services/formats/hdf5/handle.h"
#include "services/formats/hdf5/types.h"
#include "services/formats/io/reader.h"
#include "services/formats/io/subject.h"

namespace tapedeck::services::formats {

struct FoundSamples {
  std::string name;  // its path, without the first "/"
  Handle dataset;
  SampleType type;
  std::vector<hsize_t> size;
  size_t axis = 0;                  // along which the samples lie; the others have a size of 1
  std::vector<std::string> others;  // paths of all other datasets

  uint64_t samples() const { return size[axis]; }
};

// The dataset that is asked for by its path, else the only one there is. INVALID_ARGUMENT
// (FILE_INVALID): there is none, or several; the text lists what is there. `path` is the file's.
absl::StatusOr<FoundSamples> FindSamples(const Handle& file, const std::string& path,
                                         absl::string_view wanted);

// By a link of the file's own, not by one that leads elsewhere; not good: there is none.
Handle DatasetNamed(const Handle& file, const std::string& name);

// Empty: it is no simple one.
std::vector<hsize_t> SizeOf(const Handle& dataset);

// Why the last call of the library failed, in its words.
std::string LastError();

// Whether an export of ours made the dataset, so that it has our attributes.
bool IsOurs(const FoundSamples& samples);

// Takes over sample rate, start and frequency of the dataset. Notes name those that are no such
// numbers, and all other attributes of it and of the groups that it lies in.
void TakeAttributes(const Handle& file, const FoundSamples& samples, Content* content);

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
