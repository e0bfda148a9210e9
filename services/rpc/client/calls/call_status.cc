#include "services/rpc/client/calls/call_status.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/base/errors.h"
#include "services/rpc/convert/values/status.h"

namespace tapedeck::services::client {
namespace {

// Without the words that gRPC puts before what the system said.
absl::string_view CauseOf(const absl::Status& status) {
  absl::string_view text = status.message();
  absl::ConsumePrefix(&text, "failed to connect to all addresses; last error: ");
  absl::ConsumePrefix(&text, "UNKNOWN: ");
  return text;
}

// Of a connection that ended as soon as it was made nobody is told why, but in the node's log.
absl::string_view AdviceFor(absl::string_view cause) {
  for (const char* word : {"Socket closed", "andshake", "erification"}) {
    if (absl::StrContains(cause, word)) {
      return "; use certificates of one CA on both ends, or none; the node's log says why it "
             "refused";
    }
  }
  return "";
}

}  // namespace

absl::Status CallStatus(const grpc::Status& grpc_status, const std::string& node, Contact contact) {
  const absl::Status status = convert::FromGrpc(grpc_status);
  if (status.ok() || ReasonOf(status).has_value()) return status;
  if (absl::IsUnimplemented(status)) {
    return NodeUnreachable(
        node, absl::StrCat(node, " answers, but does not serve this call; check the address"));
  }
  // A call that the server's end cut, with which there was contact then.
  if (absl::IsCancelled(status)) contact = Contact::kMade;
  if (!absl::IsUnavailable(status) && !absl::IsCancelled(status)) {
    return absl::Status(status.code(), absl::StrCat(node, ": ", status.message()));
  }
  if (contact == Contact::kMade) {
    return PeerLost(node, absl::StrCat("the connection to ", node, " broke: ", status.message()));
  }
  const absl::string_view cause = CauseOf(status);
  return NodeUnreachable(
      node, absl::StrCat("connect(", node, "): ", cause,
                         "; check the address and that the node runs", AdviceFor(cause)));
}

}  // namespace tapedeck::services::client
