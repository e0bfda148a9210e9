#include "services/session/serving/admitted.h"

#include <utility>

namespace tapedeck::services::session {

Accept AcceptOf(const Admission& admission, const std::string& session,
                const std::vector<dataplane::Transport*>& transports) {
  Accept accept = admission.accept;
  if (admission.verifier) accept.verifier = admission.verifier();
  accept.session = session;
  accept.slots = static_cast<uint32_t>(admission.ring->slots());
  for (const dataplane::Transport* transport : transports) {
    const dataplane::RailDescription& rail = transport->rail();
    accept.rails.push_back({rail.name, rail.transport, rail.address});
    accept.wire_limit_bytes_per_s += rail.wire_limit_bytes_per_s;
  }
  return accept;
}

TransferEnd TakeEnd(Admission& admission) {
  return {.source = std::move(admission.source),
          .sink = std::move(admission.sink),
          .ring = admission.ring,
          .check_payload = admission.check_payload,
          .registration = std::move(admission.registration),
          .payload_crc = std::move(admission.payload_crc),
          .arrivals = std::move(admission.arrivals),
          .stage_times = SessionStageTimes::Stored(admission.stages)};
}

PhaseState PhaseStateOf(const AdmissionWatch* admission, const DataPath* data_path,
                        const Rails* rails, bool pump_done) {
  if (admission == nullptr) return {.phase = Phase::kOpen};
  if (data_path == nullptr) {
    const auto [at, steps] = admission->phase();
    return {.phase = Phase::kAdmit, .done = steps, .at = at};
  }
  PhaseState state{.phase = Phase::kMove, .rail_up = rails->AnyUp()};
  Known known;
  data_path->AddTo(known);
  if (!rails->AnyHasBeenUp()) {
    state.phase = Phase::kConnect;
  } else if (data_path->sending()) {
    if (pump_done) state.phase = Phase::kConsume;
  } else if (known.total.has_value() && known.arrived < *known.total) {
    state.phase = Phase::kRest;
    state.done = known.arrived;
  }
  return state;
}

}  // namespace tapedeck::services::session
