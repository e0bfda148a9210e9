// What one call may do, for its handler.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/rpc/identity/gate.h"

namespace tapedeck::services::identity {

// A value; the gate outlives it. Any thread.
class Access {
 public:
  // Everything, by nobody who is known: of a connection in plain text.
  Access() = default;
  Access(Gate& gate, Caller caller, const Right& right, std::string resource)
      : gate_(&gate), caller_(std::move(caller)), right_(&right), resource_(std::move(resource)) {}

  // Whom the call is of; empty: not known.
  const std::string& who() const { return caller_.who(); }

  // Whether the call itself may still go on: the policy may have changed.
  absl::Status Recheck() const {
    return gate_ == nullptr ? absl::OkStatus() : gate_->Admit(caller_, *right_, resource_);
  }
  // What the call is about in the end.
  absl::Status Admit(const Right& right, absl::string_view resource) const {
    return gate_ == nullptr ? absl::OkStatus() : gate_->Admit(caller_, right, resource);
  }
  // Whether an answer to it may have this.
  bool Sees(absl::string_view resource) const {
    return gate_ == nullptr || gate_->Allows(caller_, kSeeRight, resource);
  }
  // Null: nobody is known, nothing limits it. `right` is a constant.
  absl::StatusOr<std::unique_ptr<Gate::Permit>> Open(const Right& right, std::string resource,
                                                     Gate::OnLost on_lost) const {
    if (gate_ == nullptr) return nullptr;
    return gate_->Open(caller_, right, std::move(resource), std::move(on_lost));
  }

 private:
  Gate* gate_ = nullptr;
  Caller caller_;
  const Right* right_ = nullptr;
  std::string resource_;
};

}  // namespace tapedeck::services::identity
