// What a store is told of its LUN before it adopts or deletes what lies on its members.
#pragma once

#include <compare>
#include <set>
#include <string>

namespace tapedeck::storage_node::store {

// The ids of a recording, which are also the names of its directories.
struct RecordingPath {
  std::string channel;
  std::string recording;
  // NOLINTNEXTLINE(modernize-use-nullptr): what comparing makes of its own.
  auto operator<=>(const RecordingPath&) const = default;
};

// Only what lies below one of the channels can be the LUN's, and only if it is one of the
// recordings or carries the LUN's UUID itself.
struct Known {
  std::set<std::string> channels;      // of the configuration
  std::set<RecordingPath> recordings;  // of the catalog, which may be empty
};

}  // namespace tapedeck::storage_node::store
