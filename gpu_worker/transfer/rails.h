// Which rails a job uses: those it names, else those nearest to its memory.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/transport/transport.h"
#include "services/model/seams/node.h"
#include "services/model/words/note.h"

namespace tapedeck::gpu_worker::transfer {

struct ChosenRails {
  std::vector<dataplane::Transport*> rails;
  std::string why;        // for the log
  services::Notes notes;  // for the user, where rails were left out unasked
};

// `named` may be empty; `all` are the worker's rails, at least one, to each of which `memory` tells
// its distance. Rails of kind ipc are for peers on this machine, and left out unless named.
// INVALID_ARGUMENT (RAIL_UNKNOWN) for a name that is none of theirs.
absl::StatusOr<ChosenRails> RailsFor(const std::vector<std::string>& named,
                                     const std::vector<dataplane::Transport*>& all,
                                     const services::MemoryKindInfo& memory);

// All by which a stream of another worker may come: those of kind ipc are left out unless there are
// no others.
std::vector<std::string> NamesForPeers(const std::vector<dataplane::Transport*>& all);

// "r0,r1"
std::string NamesOf(const std::vector<dataplane::Transport*>& rails);

}  // namespace tapedeck::gpu_worker::transfer
