// Datatypes of SigMF as those of HDF5, and back. Of this room alone.
#pragma once

#include <hdf5.h>

#include <optional>
#include <string>

#include "dataplane/datatype.h"
#include "services/formats/hdf5/handle.h"

namespace tapedeck::services::formats {

// Samples in a file. Complex ones are pairs of numbers, the real part first in memory.
struct SampleType {
  dataplane::Datatype datatype;
  std::string real = "r";  // names of the parts in the file; these are h5py's
  std::string imaginary = "i";
  bool is_named = true;  // false: the parts' names do not tell which is which
};

// As the samples lie in memory, one behind the other.
Handle TypeOf(const SampleType& type);

// None: none of SigMF's. A compound of two equal numbers, of any names, is a complex one: its first
// is the real part, unless it is named as an imaginary one.
std::optional<SampleType> SampleTypeOf(hid_t type);

// Of any type in a few words: SigMF's name, else as "integer of 8 bytes".
std::string TypeText(hid_t type);

}  // namespace tapedeck::services::formats
