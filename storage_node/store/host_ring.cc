#include "storage_node/store/host_ring.h"

#include <utility>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/status_macros.h"
#include "storage_node/engine/engine.h"

namespace tapedeck::storage_node::store {

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeHostRing(
    const RingSpec& spec, const std::vector<Store*>& users) {
  TD_ASSIGN_OR_RETURN(auto memory,
                      dataplane::host::Create(spec.slots * spec.slot_bytes, spec.on_resident));
  for (Store* user : users) {
    if (engine::Engine* const engine = user->extras().disk_engine; engine != nullptr) {
      memory = engine->Adopt(std::move(memory));
    }
  }
  TD_ASSIGN_OR_RETURN(auto pool, dataplane::MemoryPool::Create(std::move(memory), spec.slot_bytes));
  return std::shared_ptr<dataplane::SlotPool>(std::move(pool));
}

}  // namespace tapedeck::storage_node::store
