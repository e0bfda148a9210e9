// A copy that does not push anything else out of the CPU's caches: of what is read only much later.
#pragma once

#include <cstddef>
#include <span>

namespace tapedeck::storage_node::follow {

// `to` has room for `from`. Stores past the caches where the CPU can: that also spares reading what
// is overwritten. Whoever is told of it afterwards, under a lock, sees all of it.
void CopyPastCaches(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace tapedeck::storage_node::follow
