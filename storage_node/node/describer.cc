#include "storage_node/node/describer.h"

#include <unistd.h>

#include <utility>

#include "services/base/version.h"
#include "storage_node/store/list.h"

namespace tapedeck::storage_node::node {

services::NodeInfo Describer::Describe() const {
  services::NodeInfo info{.name = name_,
                          .role = services::NodeRole::kStorage,
                          .version = services::kVersion,
                          .pid = getpid()};
  info.rails = placement_.rails();
  info.memory.push_back(placement_.HostMemory());
  for (store::StoreKind& kind : store::StoreKinds()) {
    info.stores.push_back(
        {.name = std::move(kind.name), .description = std::move(kind.description)});
  }
  info.sessions = registry_.stats().sessions;
  return info;
}

}  // namespace tapedeck::storage_node::node
