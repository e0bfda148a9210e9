// The gRPC server of a node: the node's services plus health and reflection, behind one port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/trace/tracer.h"
#include "services/observe/telemetry/page.h"
#include "services/rpc/server/service.h"

namespace grpc {
class Channel;
}

namespace tapedeck::services::identity {
class Security;
class CallerTokens;
}  // namespace tapedeck::services::identity

namespace tapedeck::services::server {

// Owned by main, destroyed before what its services call. Any thread.
class Server {
 public:
  // UNAVAILABLE names the address and why it cannot be used. `tracer` may be null, and outlives the
  // server, as does `security`; without it everybody may do everything, in plain text.
  static absl::StatusOr<std::unique_ptr<Server>> Create(
      ReservedPort port, const std::vector<ServiceFactory>& factories,
      telemetry::trace::Tracer* tracer = nullptr, const identity::Security* security = nullptr);

  // Shuts down without grace if that has not been done.
  ~Server();

  int port() const;

  // A way in for what runs in this process: its calls take the path of all others. With
  // certificates each says by a caller token whose it is. The channel goes before the server.
  std::shared_ptr<grpc::Channel> OwnChannel();
  const identity::CallerTokens& caller_tokens() const;

  // Names of the services that it was made with.
  std::vector<std::string> services() const;

  // Does not wait.
  void AddMetrics(telemetry::Page& page) const;

  // New work is refused with DRAINING and health says NOT_SERVING; work under way goes on.
  void Drain();

  // Drains, gives calls `grace` to end, cancels the rest, and returns when none is left.
  void Shutdown(absl::Duration grace);

 private:
  struct Parts;  // what needs gRPC's headers

  explicit Server(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace tapedeck::services::server
