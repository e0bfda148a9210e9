// What the clients of all services share: the node, the time of a call, and its end from another
// thread. A unary call goes by the name that the service's proto gives it.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/rpc/client/calls/call_limits.h"
#include "services/rpc/client/calls/channel.h"

namespace google::protobuf {
class Message;
}

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for its time. Errors are those of the node, or name it
// (NODE_UNREACHABLE).
class ServiceClient {
 public:
  using Message = google::protobuf::Message;

  // `service` is a literal: "tapedeck.v1.CatalogService".
  ServiceClient(const Channel& node, const CallTime& time, absl::string_view service)
      : node_(node), time_(time), service_(service) {}

  // Ends the calls under way and all to come: CANCELLED.
  void Cancel() { gate_.Close(); }

  // `write` gets an empty request, `read` the answer. INTERNAL: the service has no such method.
  absl::Status CallWith(absl::string_view method, const std::function<void(Message&)>& write,
                        const std::function<absl::Status(const Message&)>& read);

  absl::Status Call(absl::string_view method, const Message& request, Message& response) {
    return Call(method, request, response, time_);
  }
  absl::Status Call(absl::string_view method, const Message& request, Message& response,
                    const CallTime& time);
  // Of one that answers with a google.protobuf.Empty.
  absl::Status Call(absl::string_view method, const Message& request);

 protected:
  const Channel node_;
  const CallTime time_;
  CallGate gate_;

 private:
  const absl::string_view service_;
};

}  // namespace tapedeck::services::client
