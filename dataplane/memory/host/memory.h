// Page-aligned host memory, faulted in at creation so that no sample waits for a page.
#pragma once

#include "dataplane/memory/memory.h"

namespace tapedeck::dataplane::host {

// RESOURCE_EXHAUSTED (LIMIT_REACHED) if the machine or the container has not so much: what is sized
// by a client or a setting is refused, and nobody is killed for it later.
absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes);

}  // namespace tapedeck::dataplane::host
