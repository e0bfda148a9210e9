// How a call from within the node's own process says whose it is. What took a caller in by another
// door, the console over HTTP, has seen his certificate; the call itself has none. It carries a
// secret that is made at the start, lies in no file, and leaves the process on no connection.
#pragma once

#include <array>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/rpc/identity/caller.h"

namespace tapedeck::services::identity {

// In the metadata of such a call. Bytes, as gRPC takes them from the suffix on.
inline constexpr char kCallerTokenKey[] = "tapedeck-vouched-bin";

// Immutable, any thread.
class CallerTokens {
 public:
  // INTERNAL: the kernel gives no random numbers.
  static absl::StatusOr<CallerTokens> Create();

  // For the metadata of one call, whose caller is known by his certificate.
  std::string Write(const Caller& caller) const;

  // PERMISSION_DENIED (ACCESS_DENIED) where this process has not written it.
  absl::StatusOr<Caller> Read(absl::string_view text) const;

 private:
  using Secret = std::array<char, 32>;
  explicit CallerTokens(const Secret& secret) : secret_(secret) {}

  Secret secret_;
};

}  // namespace tapedeck::services::identity
