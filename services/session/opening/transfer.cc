#include "services/session/opening/transfer.h"

#include <algorithm>

namespace tapedeck::services::session {
namespace {

void AddRails(const std::vector<RailProgress>& more, Together how,
              std::vector<RailProgress>* rails) {
  for (const RailProgress& rail : more) {
    const auto it = std::ranges::find(*rails, rail.name, &RailProgress::name);
    if (it == rails->end()) {
      rails->push_back(rail);
      continue;
    }
    it->blocks += rail.blocks;
    it->bytes += rail.bytes;
    it->up = rail.up || (how == Together::kBeside && it->up);
    if (!rail.cause.empty()) it->cause = rail.cause;
  }
}

}  // namespace

void AddWork(const Snapshot& more, Together how, Snapshot* sum) {
  sum->counters += more.counters;
  if (how == Together::kBeside) {
    sum->elapsed_ns = std::max(sum->elapsed_ns, more.elapsed_ns);
    sum->setup_ns = std::max(sum->setup_ns, more.setup_ns);
  } else {
    sum->elapsed_ns += more.elapsed_ns;
    if (sum->setup_ns == 0) sum->setup_ns = more.setup_ns;
  }
  AddRails(more.rails, how, &sum->rails);
  model::Add(more.stage_times, sum->stage_times);
}

Snapshot SumOf(const std::vector<Snapshot>& sessions) {
  Snapshot sum;
  for (const Snapshot& session : sessions) {
    sum.running = sum.running || (session.running && !session.ended);
    sum.resuming = sum.resuming || session.resuming;
    if (sum.accept.recording.empty()) sum.accept = session.accept;
    AddWork(session, Together::kBeside, &sum);
  }
  sum.resuming = sum.resuming && !sum.running;
  return sum;
}

}  // namespace tapedeck::services::session
