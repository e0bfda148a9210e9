// The samples of a recording, counted as tapedeck/v1/view.proto says.
#pragma once

#include <cstdint>

#include "dataplane/datatype.h"
#include "services/model/seams/view.h"

namespace tapedeck::storage_node::view {

struct Extent {
  dataplane::Datatype datatype;
  uint64_t sample_bytes = 0;   // a power of two, 16 at most
  uint64_t block_samples = 0;  // of whole blocks
  uint64_t piece_samples = 0;  // of whole pieces
  uint64_t blocks = 0;         // that can be read
  uint64_t samples = 0;        // of them
};

}  // namespace tapedeck::storage_node::view
