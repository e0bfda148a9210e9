// The dataset of an HDF5 file that holds samples, among all that it has. Of this room alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/formats/hdf5/handle.h"
#include "services/formats/hdf5/types.h"

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

}  // namespace tapedeck::services::formats
