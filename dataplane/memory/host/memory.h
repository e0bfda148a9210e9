// Page-aligned host memory, faulted in at creation so that no sample waits for a page.
#pragma once

#include "dataplane/memory/memory.h"

namespace tapedeck::dataplane::host {

// RESOURCE_EXHAUSTED if the kernel gives no memory.
absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes);

}  // namespace tapedeck::dataplane::host
