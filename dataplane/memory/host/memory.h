// Page-aligned host memory, faulted in at creation so that no sample waits for a page.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"
#include "dataplane/memory/pages.h"

namespace tapedeck::dataplane::host {

// RESOURCE_EXHAUSTED (LIMIT_REACHED) if the machine or the container has not so much: what is sized
// by a client or a setting is refused, and nobody is killed for it later. `on_resident`: pages.h.
absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes,
                                               const OnResident& on_resident = nullptr);

// As host::Create, but its window has a share: a memfd that can neither shrink nor grow, named
// after 128 random bits. It is gone with the processes that have it open. Errors of host::Create.
absl::StatusOr<std::unique_ptr<Memory>> CreateShared(size_t bytes);

// Memory of another process, as its share describes it. Waits for the kernel only. `share` is a
// peer's word: PERMISSION_DENIED where the descriptor is not a memfd of that name and size, or
// where /proc does not let this process look (another user, or another PID namespace).
absl::StatusOr<std::unique_ptr<Memory>> OpenShared(const MemoryShare& share);

}  // namespace tapedeck::dataplane::host
