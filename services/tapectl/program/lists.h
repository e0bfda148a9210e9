// The lists that can be watched, too: each prints one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {

struct ListOptions {
  std::string of;  // a LUN or channel; empty: all
  // Of recordings, those that have all of these.
  std::optional<RecordingState> state;
  std::string label;                // KEY, or KEY=VALUE; empty: any
  std::optional<int64_t> since_ns;  // of the first sample, since the Unix epoch
  uint64_t limit = 0;               // the newest; 0: all
  std::string group;                // of recordings: the members of this one; empty: all
  bool segments = false;            // of recordings: each of a stream
};

absl::Status ListLuns(Program& program, const ListOptions& options);
absl::Status ListChannels(Program& program, const ListOptions& options);
absl::Status ListRecordings(Program& program, const ListOptions& options);
absl::Status ListJobs(Program& program, const ListOptions& options);
absl::Status ListNodes(Program& program, const ListOptions& options);

// Which recordings a list has.
void AddListFilters(Command list, ListOptions& options);

// Adds a list without options of its own.
void AddList(Command command, Program& program, const std::string& what,
             absl::Status (*list)(Program&, const ListOptions&));

}  // namespace tapedeck::services::tapectl
