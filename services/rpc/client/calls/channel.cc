#include "services/rpc/client/calls/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "services/base/addresses/node_name.h"
#include "services/base/trace/rpc.h"
#include "services/base/trace/span.h"
#include "services/rpc/client/calls/pulse.h"
#include "services/rpc/convert/values/status.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/tls/tls.h"
#include "services/rpc/limits.h"

namespace tapedeck::services::client {

namespace trace = telemetry::trace;

namespace {

using grpc::experimental::InterceptionHookPoints;

// Of one call; gRPC owns it, and calls it on one thread at a time.
class TracedCall final : public grpc::experimental::Interceptor {
 public:
  explicit TracedCall(trace::Span span) : span_(std::move(span)) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      auto& headers = *methods->GetSendInitialMetadata();
      headers.emplace(trace::kTraceparent, span_.context().Traceparent());
      const std::string& state = span_.context().state;
      if (!state.empty()) headers.emplace(trace::kTracestate, state);
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_STATUS)) {
      trace::EndCall(span_, convert::FromGrpc(*methods->GetRecvStatus()));
    }
    methods->Proceed();
  }

 private:
  trace::Span span_;
};

class TracedCallFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  TracedCallFactory(std::string address, const trace::Branch& branch)
      : address_(std::move(address)), branch_(branch) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* info) override {
    if (info->method() == Pulse::kMethod) return nullptr;  // nobody's work
    const absl::string_view method = absl::StripPrefix(info->method(), "/");
    trace::Span span = trace::StartCall(branch_, method, trace::SpanKind::kClient);
    if (span.recording()) span.Set("server.address", address_);
    return new TracedCall(std::move(span));  // gRPC's from here on
  }

 private:
  const std::string address_;
  const trace::Branch branch_;
};

// For gRPC's channel to `address`: a span of each call under `trace`. None where there is no trace.
std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> TracedCalls(
    const std::string& address, const trace::Branch& branch) {
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
  if (branch.tracer != nullptr || branch.above.valid()) {
    factories.push_back(std::make_unique<TracedCallFactory>(address, branch));
  }
  return factories;
}

// Of one call; gRPC owns it, and calls it on one thread at a time.
class CallFor final : public grpc::experimental::Interceptor {
 public:
  explicit CallFor(std::string identity) : identity_(std::move(identity)) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace(identity::kActingForKey, identity_);
    }
    methods->Proceed();
  }

 private:
  const std::string identity_;
};

class CallsForFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit CallsForFactory(std::string identity) : identity_(std::move(identity)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new CallFor(identity_);  // gRPC's from here on
  }

 private:
  const std::string identity_;
};

// For gRPC's channel. The node believes it of an identity that may act for others.
std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> CallsFor(
    const std::string& identity) {
  return std::make_unique<CallsForFactory>(identity);
}

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
