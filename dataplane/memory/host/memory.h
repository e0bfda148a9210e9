// Page-aligned host memory, faulted in at creation so that no sample waits for a page.
#pragma once

#include "dataplane/memory/memory.h"
#include "dataplane/memory/pages.h"

namespace tapedeck::dataplane::host {

// RESOURCE_EXHAUSTED (LIMIT_REACHED) if the machine or the container has not so much: what is sized
// by a client or a setting is refused, and nobody is killed for it later. `on_resident`: pages.h.
absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes,
                                               const OnResident& on_resident = nullptr);

}  // namespace tapedeck::dataplane::host
