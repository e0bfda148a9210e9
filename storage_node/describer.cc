#include "storage_node/describer.h"

#include <unistd.h>

#include "services/version.h"

namespace tapedeck::storage_node {

services::NodeInfo Describer::Describe() const {
  services::NodeInfo info{.name = name_,
                          .role = services::NodeRole::kStorage,
                          .version = services::kVersion,
                          .pid = getpid()};
  for (const dataplane::Transport* rail : rails_) info.rails.push_back(rail->rail());
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  info.memory.push_back({.device = "host",
                         .description = "host memory",
                         .bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)),
                         .status = "usable"});
  info.sessions = registry_.stats().sessions;
  return info;
}

}  // namespace tapedeck::storage_node
