#include "services/formats/hdf5/hdf5.h"

namespace tapedeck::services::formats {
namespace {

absl::Status Absent() {
  return absl::UnimplementedError(
      "hdf5: built without HDF5: install libhdf5-dev and build with -DTAPEDECK_HDF5=ON");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> CreateHdf5Writer(const Subject& /*subject*/,
                                                         const WriterOptions& /*options*/) {
  return Absent();
}

absl::StatusOr<std::unique_ptr<Reader>> OpenHdf5(const std::string& /*path*/,
                                                 const ReadOptions& /*options*/) {
  return Absent();
}

}  // namespace tapedeck::services::formats
