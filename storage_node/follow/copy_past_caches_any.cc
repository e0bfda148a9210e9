#include <cstring>

#include "storage_node/follow/copy_past_caches.h"

namespace tapedeck::storage_node::follow {

void CopyPastCaches(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace tapedeck::storage_node::follow
