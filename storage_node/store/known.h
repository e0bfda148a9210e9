// What the node tells a store of its LUN before the store adopts or deletes files on its members.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tapedeck::storage_node::store {

// Of a recording that may lie on all members there are.
inline constexpr uint32_t kAllMembers = UINT32_MAX;

// The ids of a recording, which are also the names of its directories, and what tells one from
// another; and where they lie.
struct RecordingPath {
  std::string channel;
  std::string recording;
  // The first so many have a part of it, as its manifest says, and those that its LUN got since
  // have none. Where that is not known: all.
  uint32_t members = kAllMembers;

  bool operator==(const RecordingPath& other) const {
    return std::tie(channel, recording) == std::tie(other.channel, other.recording);
  }
  bool operator<(const RecordingPath& other) const {
    return std::tie(channel, recording) < std::tie(other.channel, other.recording);
  }
};

// Only what lies below one of the channels can be the LUN's, and only if it is one of the
// recordings or carries the LUN's UUID itself.
struct Known {
  std::set<std::string> channels;      // of the configuration
  std::set<RecordingPath> recordings;  // of the catalog, which may be empty
  // It is not all that the LUN has: what else lies there is not named in the log.
  bool is_part = false;
};

// Of stores that list their recordings by themselves: the channels of `paths` that `known` lacks.
inline std::vector<std::string> ChannelsLacking(const std::vector<RecordingPath>& paths,
                                                const Known& known) {
  std::set<std::string> ids;
  for (const RecordingPath& path : paths) {
    if (!known.channels.contains(path.channel)) ids.insert(path.channel);
  }
  return {ids.begin(), ids.end()};
}

}  // namespace tapedeck::storage_node::store
