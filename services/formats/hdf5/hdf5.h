// HDF5: the samples as one dataset of their own type, complex ones as pairs r and i, which h5py and
// numpy take for complex numbers where they are floats. The only place that sees its library is
// hdf5/; absent.cc there takes its place in a build without.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/formats/io/reader.h"
#include "services/formats/io/writer.h"

namespace tapedeck::services::formats {

// UNIMPLEMENTED: a build without HDF5.
absl::StatusOr<std::unique_ptr<Writer>> CreateHdf5Writer(const Subject& subject,
                                                         const WriterOptions& options);

// The dataset that `options` name by its path, else the only one, in any group, that has one
// dimension (N x 1 is one) and numbers of a datatype of SigMF or pairs of them. It comes with the
// attributes and the gaps that the writer leaves. UNIMPLEMENTED: a build without HDF5. NOT_FOUND
// (FILE_NOT_FOUND). INVALID_ARGUMENT (FILE_INVALID): there is none, or more than one; its samples
// lie in other files, in chunks too large, or behind a filter that is not installed.
absl::StatusOr<std::unique_ptr<Reader>> OpenHdf5(const std::string& path,
                                                 const ReadOptions& options = {});

}  // namespace tapedeck::services::formats
