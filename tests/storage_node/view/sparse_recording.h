// A recording of zeros made long, at no cost but that of its index: of a LUN's one member, a
// directory, while no node has it. Afterwards the catalog is rebuilt.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace tapedeck::storage_node::view {

// `directory` is that of a closed recording whose blocks are all zeros. It has `blocks` then, which
// take no room of the disk.
absl::Status MakeLong(const std::string& directory, uint64_t blocks);

}  // namespace tapedeck::storage_node::view
