// One unary call with its deadline, and its result in our terms.
#pragma once

#include <grpcpp/client_context.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "services/client/call_gate.h"
#include "services/client/call_status.h"

namespace tapedeck::services::client {

// `call` is given the context and returns grpc::Status. CANCELLED once `gate`, which may be null,
// is closed.
template <typename Call>
absl::Status RunCall(const std::string& node, absl::Duration timeout, CallGate* gate, Call call) {
  grpc::ClientContext context;
  const absl::Time now = dataplane::WallTime();
  context.set_deadline(absl::ToChronoTime(now + timeout));
  const CallGate::Passage passage(gate, context);
  const grpc::Status status = call(&context);
  if (!status.ok() && gate != nullptr && gate->closed()) {
    return absl::CancelledError(absl::StrCat("the call to ", node, " was given up"));
  }
  return CallStatus(status, node);
}

template <typename Call>
absl::Status RunCall(const std::string& node, absl::Duration timeout, Call call) {
  return RunCall(node, timeout, nullptr, call);
}

// Fetches every page of a listing into `take(response)`.
template <typename Request, typename Response, typename Call, typename Take>
absl::Status ForEachPage(const std::string& node, absl::Duration timeout, CallGate* gate,
                         Request request, Call call, Take take) {
  while (true) {
    Response response;
    const absl::Status status = RunCall(node, timeout, gate, [&](grpc::ClientContext* context) {
      return call(context, request, &response);
    });
    if (!status.ok()) return status;
    if (const absl::Status taken = take(response); !taken.ok()) return taken;
    if (response.next_page_token().empty()) return absl::OkStatus();
    request.set_page_token(response.next_page_token());
  }
}

}  // namespace tapedeck::services::client
