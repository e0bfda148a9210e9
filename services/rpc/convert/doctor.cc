#include "services/rpc/convert/doctor.h"

#include "absl/strings/str_cat.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_spec.h"
#include "services/rpc/convert/values/fields.h"

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

v1::DoctorFinding FindingToProto(const doctor::Finding& finding) {
  v1::DoctorFinding out;
  out.set_code(finding.code);
  out.set_severity(static_cast<v1::Severity>(finding.severity));
  out.set_what(finding.what);
  out.set_why(finding.why);
  out.set_fix(finding.fix);
  return out;
}

absl::StatusOr<doctor::Finding> FindingOf(const v1::DoctorFinding& finding) {
  TD_ASSIGN_OR_RETURN(const auto severity,
                      FromEnum<doctor::Severity>(finding.severity(), 3, "findings.severity"));
  return doctor::Finding{.code = finding.code(),
                         .severity = severity,
                         .what = finding.what(),
                         .why = finding.why(),
                         .fix = finding.fix()};
}

v1::RailFacts FactsToProto(const doctor::RailFacts& rail) {
  v1::RailFacts out;
  out.set_name(rail.name);
  out.set_transport(rail.transport);
  out.set_address(rail.address);
  out.set_prefix_bits(rail.prefix_bits);
  out.set_interface(rail.interface);
  out.set_mtu_bytes(rail.mtu_bytes);
  out.set_path_mtu_bytes(rail.path_mtu_bytes);
  out.set_bits_per_s(rail.bits_per_s);
  out.set_limit_bytes_per_s(rail.limit_bytes_per_s);
  out.set_best_limit_bytes_per_s(rail.best_limit_bytes_per_s);
  if (rail.temperature_celsius.has_value()) out.set_temperature_celsius(*rail.temperature_celsius);
  return out;
}

doctor::RailFacts FactsOf(const v1::RailFacts& rail) {
  doctor::RailFacts out{.name = rail.name(),
                        .transport = rail.transport(),
                        .address = rail.address(),
                        .prefix_bits = rail.prefix_bits(),
                        .interface = rail.interface(),
                        .mtu_bytes = rail.mtu_bytes(),
                        .path_mtu_bytes = rail.path_mtu_bytes(),
                        .bits_per_s = rail.bits_per_s(),
                        .limit_bytes_per_s = rail.limit_bytes_per_s(),
                        .best_limit_bytes_per_s = rail.best_limit_bytes_per_s()};
  if (rail.has_temperature_celsius()) out.temperature_celsius = rail.temperature_celsius();
  return out;
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
    *out.add_findings() = FindingToProto(finding);
  }
  for (const doctor::RailFacts& rail : diagnosis.rails) *out.add_rails() = FactsToProto(rail);
  return out;
}

absl::StatusOr<doctor::Diagnosis> FromProto(const v1::DiagnoseResponse& response) {
  doctor::Diagnosis out;
  for (const v1::DoctorFinding& finding : response.findings()) {
    TD_ASSIGN_OR_RETURN(out.findings.emplace_back(), FindingOf(finding));
  }
  for (const v1::RailFacts& rail : response.rails()) out.rails.push_back(FactsOf(rail));
  return out;
}

}  // namespace tapedeck::services::convert
