#include "services/rpc/client/calls/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <utility>

#include "services/base/addresses/node_name.h"
#include "services/rpc/client/calls/calls_for.h"
#include "services/rpc/client/calls/traced_calls.h"
#include "services/rpc/identity/tls/tls.h"
#include "services/rpc/limits.h"

namespace tapedeck::services::client {
namespace {

// gRPC's name for it: an attempt to connect lasts at least, and without success at most, this long.
constexpr int kConnectTimeMs = 5'000;
constexpr int kMaxBackoffMs = 2'000;

std::shared_ptr<grpc::ChannelCredentials> OfGrpc(const Credentials& credentials) {
  if (credentials.tls == nullptr) return grpc::InsecureChannelCredentials();
  return credentials.tls->ForChannel();
}

// Where gRPC connects to. The node's certificate names the host that was called, whatever the
// address that was chosen for it.
std::string TargetOf(const std::string& address, grpc::ChannelArguments& arguments) {
  const absl::StatusOr<naming::NodeName> name = naming::ParseNodeName(address);
  // A collector of spans, which is no node, has been checked otherwise.
  if (!name.ok()) return address;
  if (!name->address.empty()) {
    arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, name->authority());
  }
  return name->target();
}

}  // namespace

Channel MakeChannel(const std::string& address, const telemetry::trace::Branch& trace,
                    const Credentials& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxBackoffMs);
  // A session's connection is its own: another one's back-off must not delay it.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Nodes are named directly; a web proxy of the environment cannot reach them.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const std::string target = TargetOf(address, arguments);
  auto interceptors = TracedCalls(address, trace);
  if (!credentials.acting_for.empty()) {
    interceptors.push_back(CallsFor(credentials.acting_for));
  }
  return {.address = address,
          .channel = grpc::experimental::CreateCustomChannelWithInterceptors(
              target, OfGrpc(credentials), arguments, std::move(interceptors))};
}

}  // namespace tapedeck::services::client
