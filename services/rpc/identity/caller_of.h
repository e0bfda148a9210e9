// The caller of a gRPC call, by the certificate of its connection; and of one that another
// library's handshake has proven.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/rpc/identity/caller.h"

namespace grpc {
class AuthContext;
}

namespace tapedeck::services::identity {

// The peer is the URI of its certificate's alternative names (a SPIFFE id is one), else the first
// DNS name there, else the common name. `acting_for` is what it has sent; may be empty.
// PERMISSION_DENIED (ACCESS_DENIED) where there is none of them or there are two URIs, or where a
// name is longer than kMaxIdentityBytes or not printable.
absl::StatusOr<Caller> CallerOf(const grpc::AuthContext& connection, absl::string_view acting_for);

// The same of a certificate in DER, which was verified and whose key the peer has shown to have.
absl::StatusOr<Caller> CallerOfCertificate(absl::string_view certificate);

}  // namespace tapedeck::services::identity
