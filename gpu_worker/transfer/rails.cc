#include "gpu_worker/transfer/rails.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "dataplane/topology/distance.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::transfer {

using dataplane::Transport;
using dataplane::topology::Distance;

namespace {

absl::StatusOr<std::vector<Transport*>> Find(const std::vector<std::string>& names,
                                             const std::vector<Transport*>& all) {
  std::vector<Transport*> found;
  for (const std::string& name : names) {
    const auto rail = std::ranges::find(all, name, [](Transport* t) { return t->rail().name; });
    if (rail == all.end()) {
      return services::RailUnknown(
          name, absl::StrCat("this worker has no rail \"", name, "\", only ", NamesOf(all)));
    }
    found.push_back(*rail);
  }
  return found;
}

bool IsIpc(const Transport* rail) { return rail->rail().transport == dataplane::kIpcTransport; }

// "all" where no rail is nearer than another.
std::string WhyThese(const services::MemoryKindInfo& memory, Distance distance) {
  if (distance == Distance::kUnknown) {
    return absl::StrCat("all: no rail's distance to ", memory.device, " is known");
  }
  return absl::StrCat("nearest to ", memory.device, " (", services::model::NameOf(distance), ")");
}

}  // namespace

std::string NamesOf(const std::vector<Transport*>& rails) {
  return absl::StrJoin(rails, ",", [](std::string* out, Transport* rail) {
    absl::StrAppend(out, rail->rail().name);
  });
}

std::vector<std::string> NamesForPeers(const std::vector<Transport*>& all) {
  const bool only_ipc = std::ranges::all_of(all, IsIpc);
  std::vector<std::string> names;
  for (const Transport* rail : all) {
    if (only_ipc || !IsIpc(rail)) names.push_back(rail->rail().name);
  }
  return names;
}

absl::StatusOr<ChosenRails> RailsFor(const std::vector<std::string>& named,
                                     const std::vector<Transport*>& all,
                                     const services::MemoryKindInfo& memory) {
  ChosenRails chosen;
  if (!named.empty()) {
    TD_ASSIGN_OR_RETURN(chosen.rails, Find(named, all));
    chosen.why = "named by the job";
    return chosen;
  }
  TD_ASSIGN_OR_RETURN(chosen.rails, Find(ChooseRails(memory.distances), all));
  if (!std::ranges::all_of(chosen.rails, IsIpc)) std::erase_if(chosen.rails, IsIpc);
  const auto nearest =
      std::ranges::min(memory.distances, {}, &dataplane::topology::RailDistance::distance);
  chosen.why = WhyThese(memory, nearest.distance);
  if (chosen.rails.size() < all.size()) {
    const std::string rails = NamesOf(chosen.rails);
    const std::string all_rails = NamesOf(all);
    chosen.notes.push_back(services::MakeNote(
        "RAILS_LEFT_OUT",
        absl::StrCat("rails ", rails, " of ", all_rails, ": ", chosen.why, "; --rails uses others"),
        {{"rails", rails}, {"all_rails", all_rails}}));
  }
  return chosen;
}

}  // namespace tapedeck::gpu_worker::transfer
