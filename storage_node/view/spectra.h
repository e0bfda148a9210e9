// What a recording's samples are, for pictures of it: samples in time, or spectra that the worker's
// transforms made of them. A value; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "services/model/recording/origin.h"

namespace tapedeck::storage_node::view {

struct Spectra {
  uint32_t points = 0;      // bins of each, from 0 Hz on; 0: samples in time
  bool powers = false;      // |X|^2 instead of X
  uint64_t average = 1;     // transforms that became one
  double full_scale = 1.0;  // |X|^2 of a tone of full scale in the middle of its bin
};

// By its origin and what its samples are. INVALID_ARGUMENT (ARGUMENT_INVALID) if a transform left
// neither of the two, or is unknown: the text begins with `recording` and says why.
absl::StatusOr<Spectra> SpectraOf(const std::string& recording,
                                  const services::model::Origin& origin,
                                  const dataplane::Datatype& datatype, uint64_t block_samples);

}  // namespace tapedeck::storage_node::view
