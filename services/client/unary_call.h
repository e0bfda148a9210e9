// One unary call with its deadline, and its result in our terms.
#pragma once

#include <grpcpp/client_context.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "services/client/call_status.h"

namespace tapedeck::services::client {

// `call` is given the context and returns grpc::Status.
template <typename Call>
absl::Status RunCall(const std::string& node, absl::Duration timeout, Call call) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  return CallStatus(call(&context), node);
}

// Fetches every page of a listing into `take(response)`.
template <typename Request, typename Response, typename Call, typename Take>
absl::Status ForEachPage(const std::string& node, absl::Duration timeout, Request request,
                         Call call, Take take) {
  while (true) {
    Response response;
    const absl::Status status = RunCall(node, timeout, [&](grpc::ClientContext* context) {
      return call(context, request, &response);
    });
    if (!status.ok()) return status;
    if (const absl::Status taken = take(response); !taken.ok()) return taken;
    if (response.next_page_token().empty()) return absl::OkStatus();
    request.set_page_token(response.next_page_token());
  }
}

}  // namespace tapedeck::services::client
