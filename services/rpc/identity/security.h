// How a node's gRPC port is kept: its certificates, or why it has none, and who may do what.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "services/base/faults.h"
#include "services/model/seams/node.h"
#include "services/observe/doctor/checks.h"
#include "services/observe/telemetry/page.h"
#include "services/rpc/identity/gate.h"
#include "services/rpc/identity/tls/expiry_watch.h"
#include "services/rpc/identity/tls/settings.h"
#include "services/rpc/identity/tls/tls.h"

namespace tapedeck::services::identity {

// Owned by main, outlives the server and what asks it. Any thread.
class Security {
 public:
  // All that Create would refuse, as the files are now. Makes and starts nothing; waits for a disk
  // and the resolver.
  static Faults Look(const std::string& listen, const Settings& settings);

  // INVALID_ARGUMENT where `listen` is an address that other machines reach, and the settings have
  // neither certificates nor --insecure, or where the policy is not right. FAILED_PRECONDITION
  // (TLS_UNUSABLE) of the certificates.
  static absl::StatusOr<std::unique_ptr<Security>> Create(const std::string& listen,
                                                          const Settings& settings);

  // Null: plain text.
  const std::shared_ptr<const Tls>& tls() const { return tls_; }
  // Null: plain text, everybody may do everything.
  Gate* gate() const { return gate_.get(); }

  // Plain text that no other machine reaches: who asks is a user of this one.
  bool local() const { return tls_ == nullptr && !exposed_; }
  // Does not wait. Any thread.
  void AddMetrics(telemetry::Page& page) const;
  // Looks at the files as they are then, and at the rails of the node.
  doctor::Check DoctorCheck(std::vector<NodeRail> rails) const;

 private:
  explicit Security(std::string listen) : listen_(std::move(listen)) {}

  void Examine(const std::vector<NodeRail>& rails, doctor::Findings& findings) const;

  const std::string listen_;
  std::shared_ptr<const Tls> tls_;
  std::unique_ptr<ExpiryWatch> expiry_;
  std::unique_ptr<Gate> gate_;
  bool exposed_ = false;  // plain text where other machines reach it
};

}  // namespace tapedeck::services::identity
