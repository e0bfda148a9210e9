// Which kinds of stores lock the rings of their sessions.
#pragma once

#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::store {

// Whether LUNs of the kind give rings to io_uring, which locks them in memory where it may.
bool LocksRings(absl::string_view kind);

}  // namespace tapedeck::storage_node::store
