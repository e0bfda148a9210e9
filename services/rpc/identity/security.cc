#include "services/rpc/identity/security.h"

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/faults.h"
#include "services/rpc/identity/policy_file.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::services::identity {
namespace {

using dataplane::Log;
using dataplane::LogLevel;

}  // namespace

Faults Security::Look(const std::string& listen, const Settings& settings) {
  Faults faults;
  AddFault(faults, CheckListenAddress(listen));
  if (faults.empty()) AddFault(faults, CheckPlainText(listen, settings));
  TlsFacts facts;
  if (settings.tls.given()) {
    AddFaults(faults, LookAtTlsFiles(settings.tls, dataplane::WallTime(), facts));
  }
  if (!settings.policy.empty()) AddFaults(faults, LookAtPolicy(settings.policy));
  return faults;
}

absl::StatusOr<std::unique_ptr<Security>> Security::Create(const std::string& listen,
                                                           const Settings& settings) {
  const Faults faults = Look(listen, settings);
  if (!faults.empty()) return faults.front();
  std::unique_ptr<Security> security(new Security(listen));
  if (settings.tls.given()) {
    TD_ASSIGN_OR_RETURN(security->tls_, Tls::Create(settings.tls));
    TD_ASSIGN_OR_RETURN(security->expiry_,
                        ExpiryWatch::Create(settings.tls, security->tls_->expires()));
    TD_ASSIGN_OR_RETURN(security->gate_, Gate::Create({.policy = settings.policy,
                                                       .open_health = settings.open_health,
                                                       .for_others = settings.for_others}));
  } else if (!IsLoopback(listen)) {
    security->exposed_ = true;
    Log(LogLevel::kWarning, "services/identity",
        "plain text: anyone who can reach this port may do everything, without being identified",
        {{"listen", listen}});
  }
  return security;
}

void Security::AddMetrics(telemetry::Page& page) const {
  if (expiry_ == nullptr) return;
  page.Add("tapedeck_tls_certificate_expiry_timestamp_seconds",
           absl::ToUnixSeconds(expiry_->expires()));
  const auto loaded = gate_->policy_loaded();
  if (!loaded.has_value()) return;
  page.Add("tapedeck_policy_loaded_timestamp_seconds", absl::ToUnixSeconds(*loaded));
  page.Add("tapedeck_policy_last_reload_successful", gate_->policy_fault().ok() ? 1 : 0);
}

doctor::Check Security::DoctorCheck(std::vector<NodeRail> rails) const {
  return {
      .name = "identity",
      .run = [this, rails = std::move(rails)](const doctor::Request&, doctor::Findings& findings) {
        Examine(rails, findings);
      }};
}

void Security::Examine(const std::vector<NodeRail>& rails, doctor::Findings& findings) const {
  if (exposed_) {
    findings.push_back(
        doctor::Found("PLAIN_TEXT", absl::StrCat("the node listens at ", listen_, " without TLS")));
  }
  if (tls_ == nullptr) return;
  for (const auto& [rail, place] : rails) {
    if (rail.tls || rail.transport != "tcp") continue;
    if (IsLoopback(absl::StrCat(rail.address, ":0"))) continue;
    findings.push_back(doctor::Found(
        "RAIL_IN_CLEAR",
        absl::StrCat("rail ", rail.name, " (", rail.address, ") carries blocks in clear")));
  }
  if (const absl::Status fault = gate_->policy_fault(); !fault.ok()) {
    findings.push_back(doctor::Found("POLICY_UNUSABLE", std::string(fault.message())));
  }
  const absl::Time now = dataplane::WallTime();
  const absl::StatusOr<TlsFacts> facts = CheckTlsFiles(tls_->files(), now);
  if (!facts.ok()) {
    findings.push_back(doctor::FoundError(facts.status(), "TLS_UNUSABLE", "certificates"));
    return;
  }
  if (facts->expires - now < kExpirySoon) {
    findings.push_back(doctor::Found(
        "TLS_EXPIRES_SOON", absl::StrCat(tls_->files().cert, " ends at ",
                                         absl::FormatTime(facts->expires, absl::UTCTimeZone()))));
  }
  if (facts->key_readable_by_others) {
    findings.push_back(
        doctor::Found("TLS_KEY_READABLE",
                      absl::StrCat("every user of the machine may read ", tls_->files().key)));
  }
}

}  // namespace tapedeck::services::identity
