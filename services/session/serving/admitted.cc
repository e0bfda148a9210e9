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
          .stage_times = StageBoard::Stored(admission.stages)};
}

}  // namespace tapedeck::services::session
