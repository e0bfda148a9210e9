#include "services/identity/caller_of.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/identity/denied.h"

namespace tapedeck::services::identity {
namespace {

absl::Status NoName(absl::string_view why) {
  return AccessDenied({}, absl::StrCat("the caller's certificate names nobody: ", why));
}

absl::StatusOr<std::string> NameIn(const grpc::AuthContext& connection) {
  const auto uris = connection.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME);
  if (uris.size() > 1) return NoName("it has more than one URI");
  for (const char* property :
       {GRPC_PEER_URI_PROPERTY_NAME, GRPC_PEER_DNS_PROPERTY_NAME, GRPC_X509_CN_PROPERTY_NAME}) {
    const auto found = connection.FindPropertyValues(property);
    if (found.empty()) continue;
    std::string name(found.front().data(), found.front().size());
    // An authority that watches over URIs may let any common name pass.
    if (uris.empty() && name.find_first_of(":/") != std::string::npos) {
      return NoName("a name with : or / is a URI, and stands among the alternative names");
    }
    return name;
  }
  return NoName("it has no URI, no DNS name and no common name");
}

absl::Status CheckIdentity(absl::string_view name) {
  if (name.empty() || name.size() > kMaxIdentityBytes) {
    return NoName(absl::StrCat("a name has 1 to ", kMaxIdentityBytes, " bytes"));
  }
  for (absl::string_view left = name; !left.empty();) {
    const size_t bytes = dataplane::PrintableBytes(left);
    if (bytes == 0) return NoName("the name is not printable");
    left.remove_prefix(bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Caller> CallerOf(const grpc::AuthContext& connection, absl::string_view acting_for) {
  Caller caller{.acting_for = std::string(acting_for)};
  TD_ASSIGN_OR_RETURN(caller.peer, NameIn(connection));
  TD_RETURN_IF_ERROR(CheckIdentity(caller.peer));
  if (!acting_for.empty()) TD_RETURN_IF_ERROR(CheckIdentity(acting_for));
  const auto found = connection.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!found.empty()) caller.certificate.assign(found.front().data(), found.front().size());
  return caller;
}

}  // namespace tapedeck::services::identity
