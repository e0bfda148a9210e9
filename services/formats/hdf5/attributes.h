// What the attributes of an HDF5 file say of its samples. Of this room alone.
#pragma once

#include <string>

#include "services/formats/hdf5/datasets.h"
#include "services/formats/io/reader.h"

namespace tapedeck::services::formats {

// Whether an export of ours made the dataset, so that it has our attributes.
bool IsOurs(const FoundSamples& samples);

// Takes over sample rate, start and frequency of the dataset. Notes name those that are no such
// numbers, and all other attributes of it and of the groups that it lies in.
void TakeAttributes(const Handle& file, const FoundSamples& samples, Content* content);

}  // namespace tapedeck::services::formats
