// A call whose request and answer are plain structs with lists of fields
// (services/model/words/field.h).
#pragma once

#include "absl/status/statusor.h"
#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/service_client.h"
#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::client {

template <convert::HasFields Answer, convert::HasFields Request>
absl::StatusOr<Answer> Ask(ServiceClient& service, absl::string_view method,
                           const Request& request) {
  Answer answer;
  TD_RETURN_IF_ERROR(service.CallWith(
      method, [&](auto& message) { convert::WriteFields(request, message); },
      [&](const auto& message) { return convert::ReadFields(message, answer); }));
  return answer;
}

}  // namespace tapedeck::services::client
