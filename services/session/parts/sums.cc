#include "services/session/parts/sums.h"

#include <algorithm>

namespace tapedeck::services::parts {
namespace {

using session::RailProgress;
using session::Snapshot;

// A worker's rail goes to all nodes.
void AddRails(const std::vector<RailProgress>& more, std::vector<RailProgress>* rails) {
  for (const RailProgress& rail : more) {
    const auto it = std::ranges::find(*rails, rail.name, &RailProgress::name);
    if (it == rails->end()) {
      rails->push_back(rail);
      continue;
    }
    it->blocks += rail.blocks;
    it->bytes += rail.bytes;
    it->up = it->up || rail.up;
    if (!rail.cause.empty()) it->cause = rail.cause;
  }
}

}  // namespace

Snapshot Sum(const std::vector<Snapshot>& parts) {
  Snapshot sum;
  for (const Snapshot& part : parts) {
    sum.running = sum.running || (part.running && !part.ended);
    sum.resuming = sum.resuming || part.resuming;
    if (sum.accept.recording.empty()) sum.accept = part.accept;
    sum.counters += part.counters;
    sum.elapsed_ns = std::max(sum.elapsed_ns, part.elapsed_ns);
    sum.setup_ns = std::max(sum.setup_ns, part.setup_ns);
    AddRails(part.rails, &sum.rails);
    model::Add(part.stage_times, sum.stage_times);
  }
  sum.resuming = sum.resuming && !sum.running;
  return sum;
}

}  // namespace tapedeck::services::parts
