// The ring of stores that copy payload between slots and a disk: host memory.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store {

// The engine of each of `users` that has one adopts the memory.
absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeHostRing(const RingSpec& spec,
                                                                  const std::vector<Store*>& users);

}  // namespace tapedeck::storage_node::store
