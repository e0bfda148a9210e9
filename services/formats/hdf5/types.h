// Datatypes of SigMF as those of HDF5, and back. Of this room alone.
#pragma once

#include <hdf5.h>

#include <optional>

#include "dataplane/datatype.h"
#include "services/formats/hdf5/handle.h"

namespace tapedeck::services::formats {

// Complex samples are pairs `r` and `i`, as h5py has them.
Handle TypeOf(const dataplane::Datatype& type);

// None: none of SigMF's.
std::optional<dataplane::Datatype> DatatypeOf(hid_t type);

}  // namespace tapedeck::services::formats
