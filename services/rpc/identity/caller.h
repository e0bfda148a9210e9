// Whose call it is: by the certificate of its gRPC connection, or by one that another library's
// handshake has proven. And the refusal of what an identity may not do.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace grpc {
class AuthContext;
}

namespace tapedeck::services::identity {

// An identity is at most so long: longer names are no names, and would fill the log.
inline constexpr size_t kMaxIdentityBytes = 256;

// In the metadata of a call: whom a worker calls for. Bytes, as gRPC takes them from the suffix on.
inline constexpr char kActingForKey[] = "tapedeck-acting-for-bin";

struct Caller {
  std::string peer;              // whom the certificate of the connection names
  std::string acting_for;        // whom that one says it calls for; empty: for itself
  std::string certificate = {};  // that of the connection, in PEM

  // Whom the call is of, if all of this is believed.
  const std::string& who() const { return acting_for.empty() ? peer : acting_for; }
  bool operator==(const Caller&) const = default;
};

// The peer is the URI of its certificate's alternative names (a SPIFFE id is one), else the first
// DNS name there, else the common name. `acting_for` is what it has sent; may be empty.
// PERMISSION_DENIED (ACCESS_DENIED) where there is none of them or there are two URIs, or where a
// name is longer than kMaxIdentityBytes or not printable.
absl::StatusOr<Caller> CallerOf(const grpc::AuthContext& connection, absl::string_view acting_for);

// The same of a certificate in DER, which was verified and whose key the peer has shown to have.
absl::StatusOr<Caller> CallerOfCertificate(absl::string_view certificate);

// Any of them may be empty.
struct Denial {
  std::string identity;
  std::string role;  // that it needs
  std::string resource;
};

// PERMISSION_DENIED (ACCESS_DENIED).
absl::Status AccessDenied(const Denial& denial, absl::string_view text);
bool IsAccessDenied(const absl::Status& status);

}  // namespace tapedeck::services::identity
