// The storage nodes that jobs may name: a worker calls whomever a job tells it, with a certificate
// of its own.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/rpc/identity/address_patterns.h"

namespace tapedeck::gpu_worker {

// A value. Any thread.
class AllowedStorage {
 public:
  // Any.
  AllowedStorage() = default;
  // No patterns: any. INVALID_ARGUMENT.
  static absl::StatusOr<AllowedStorage> Parse(const std::vector<std::string>& patterns);

  // `address` is as services/base/addresses/node_name.h has it: its HOST:PORT must fit, and an
  // address that it is called at, too, with that port. PERMISSION_DENIED (STORAGE_NOT_ALLOWED).
  absl::Status Check(const std::string& address) const;

  // "any", or the patterns, for the log.
  std::string Described() const { return patterns_.Described(); }
  bool any() const { return patterns_.any(); }

 private:
  services::identity::AddressPatterns patterns_ = services::identity::AddressPatterns::Any();
};

}  // namespace tapedeck::gpu_worker
