#include "services/rpc/convert/doctor.h"

#include "absl/strings/str_cat.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_spec.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::convert {
namespace {

absl::StatusOr<doctor::PeerRail> PeerOf(const v1::PeerRail& peer) {
  if (peer.name().empty() || peer.name().size() > dataplane::kMaxRailNameBytes) {
    return FieldError("peers.name", "is no name of a rail");
  }
  // Rails inside one process have none.
  const bool reached = peer.transport() == "tcp" || peer.transport() == "verbs";
  if (reached && !dataplane::ParseIp(peer.address()).has_value()) {
    return FieldError("peers.address", "is no numeric IP address");
  }
  if (peer.port() > UINT16_MAX) return FieldError("peers.port", "is no port");
  return doctor::PeerRail{.name = peer.name(),
                          .transport = peer.transport(),
                          .address = peer.address(),
                          .port = static_cast<uint16_t>(peer.port())};
}

}  // namespace

v1::DiagnoseRequest ToProto(const doctor::Request& request) {
  v1::DiagnoseRequest out;
  out.set_measure(request.measure);
  for (const doctor::PeerRail& peer : request.peers) {
    v1::PeerRail& wire = *out.add_peers();
    wire.set_name(peer.name);
    wire.set_transport(peer.transport);
    wire.set_address(peer.address);
    wire.set_port(peer.port);
  }
  return out;
}

absl::StatusOr<doctor::Request> FromProto(const v1::DiagnoseRequest& request) {
  if (static_cast<size_t>(request.peers_size()) > doctor::kMaxPeerRails) {
    return FieldError("peers", absl::StrCat("has more than ", doctor::kMaxPeerRails, " rails"));
  }
  doctor::Request out{.measure = request.measure()};
  for (const v1::PeerRail& peer : request.peers()) {
    TD_ASSIGN_OR_RETURN(out.peers.emplace_back(), PeerOf(peer));
  }
  return out;
}

v1::DiagnoseResponse ToProto(const doctor::Diagnosis& diagnosis) {
  v1::DiagnoseResponse out;
  for (const doctor::Finding& finding : diagnosis.findings) {
    WriteFields(finding, *out.add_findings());
  }
  for (const doctor::RailFacts& rail : diagnosis.rails) WriteFields(rail, *out.add_rails());
  return out;
}

absl::StatusOr<doctor::Diagnosis> FromProto(const v1::DiagnoseResponse& response) {
  doctor::Diagnosis out;
  for (const v1::DoctorFinding& finding : response.findings()) {
    TD_RETURN_IF_ERROR(ReadFields(finding, out.findings.emplace_back()));
  }
  for (const v1::RailFacts& rail : response.rails()) {
    TD_RETURN_IF_ERROR(ReadFields(rail, out.rails.emplace_back()));
  }
  return out;
}

}  // namespace tapedeck::services::convert
