// How a store takes room, for whoever counts it.
#pragma once

#include <cstdint>

#include "services/model/recording/recording.h"

namespace tapedeck::storage_node::store {

struct Layout {
  // Payload, index and manifest of a recording each take so many bytes at a time on each member:
  // pages of a file system, or a device's units.
  uint64_t step_bytes = 4096;
  // They lie where the payload lies. A memory LUN has them beside its memory, a device its
  // manifests in slots that are there anyway.
  bool counts_index = true;
  bool counts_manifest = true;
  // Of the annotations that one manifest has room for.
  uint64_t annotation_bytes = services::kMaxAnnotationBytes;
  // Of the description and the labels, as WrittenBytes counts them
  // (services/model/words/description.h).
  uint64_t description_bytes = UINT64_MAX;
};

}  // namespace tapedeck::storage_node::store
