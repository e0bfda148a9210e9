#include "services/session/serving/standing.h"

namespace tapedeck::services::session {

Standing StandingOf(const AdmissionWatch* admission, const DataPath* data_path, const Rails* rails,
                    bool pump_done) {
  if (admission == nullptr) return {.phase = Phase::kOpen};
  if (data_path == nullptr) {
    const auto [at, steps] = admission->phase();
    return {.phase = Phase::kAdmit, .done = steps, .at = at};
  }
  Standing standing{.phase = Phase::kMove, .rail_up = rails->AnyUp()};
  Known known;
  data_path->AddTo(known);
  if (!rails->AnyHasBeenUp()) {
    standing.phase = Phase::kConnect;
  } else if (data_path->sending()) {
    if (pump_done) standing.phase = Phase::kConsume;
  } else if (known.total.has_value() && known.arrived < *known.total) {
    standing.phase = Phase::kRest;
    standing.done = known.arrived;
  }
  return standing;
}

}  // namespace tapedeck::services::session
