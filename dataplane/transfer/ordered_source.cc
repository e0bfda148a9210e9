#include "dataplane/transfer/ordered_source.h"

#include "dataplane/status_macros.h"

namespace tapedeck::dataplane {

absl::StatusOr<Flow> OrderedSource::Pull(Block* block) {
  while (true) {
    if (auto due = early_.extract(next_); !due.empty()) {
      *block = std::move(due.mapped());
      ++next_;
      return Flow::kMoved;
    }
    TD_ASSIGN_OR_RETURN(const Flow flow, inner_.Pull(block));
    if (flow != Flow::kMoved) return flow;
    const uint64_t sequence = block->header().sequence;
    early_.emplace(sequence, std::move(*block));
  }
}

}  // namespace tapedeck::dataplane
