#include "services/rpc/server/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "services/rpc/convert/values/status.h"
#include "services/rpc/grpc_process.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/caller_tokens.h"
#include "services/rpc/identity/gate.h"
#include "services/rpc/identity/methods.h"
#include "services/rpc/identity/security.h"
#include "services/rpc/identity/tls/handshakes.h"
#include "services/rpc/limits.h"
#include "services/rpc/server/acceptor.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/service.h"
#include "services/rpc/server/ticking_reactor.h"

namespace tapedeck::services::server {

// Member order is teardown order: calls end before what they call.
struct Server::Parts {
  Parts(telemetry::trace::Tracer* tracer, const identity::Security* security,
        identity::CallerTokens caller_tokens)
      : dispatch(tracer, security == nullptr ? nullptr : security->gate(),
                 std::move(caller_tokens)) {}

  Dispatch dispatch;
  std::vector<Service> services;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> hand;
  identity::Handshakes handshakes;
  std::unique_ptr<Acceptor> acceptor;

  // Of a connection that was accepted. False: it was turned away.
  bool Take(dataplane::Fd socket, const std::string& peer);
};

bool Server::Parts::Take(dataplane::Fd socket, const std::string& peer) {
  const identity::Handshakes::Arrival arrival(handshakes, peer);
  if (!arrival.admitted()) return false;
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = socket.Release();
  hand->HandleNewConnection(&connection);
  return true;
}

namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// grpc.health.v1.Health: SERVING per service and for "" as a whole, NOT_SERVING while draining.
class HealthService final : public Health::CallbackService {
 public:
  HealthService(Dispatch& dispatch, std::set<std::string> names)
      : dispatch_(dispatch, Health::service_full_name()), names_(std::move(names)) {}

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const HealthCheckRequest* request,
                                  HealthCheckResponse* response) override {
    return dispatch_.Unary(context, *request, "Check", Work::kOther, [=, this] {
      response->set_status(StatusOf(request->service()));
      if (response->status() != HealthCheckResponse::SERVICE_UNKNOWN) return absl::OkStatus();
      return absl::NotFoundError(
          absl::StrCat("Health.Check: no service \"", request->service(), "\" here"));
    });
  }

  grpc::ServerWriteReactor<HealthCheckResponse>* Watch(grpc::CallbackServerContext* context,
                                                       const HealthCheckRequest* request) override {
    auto look = [this, name = request->service(), first = true](
                    const identity::Access&,
                    HealthCheckResponse& response) mutable -> absl::StatusOr<Look> {
      const auto status = StatusOf(name);
      if (!std::exchange(first, false) && status == response.status()) return Look::kNothing;
      response.set_status(status);
      return Look::kSend;
    };
    return TickingReactor<HealthCheckResponse>::Start(dispatch_, context, *request, "Watch",
                                                      absl::Milliseconds(500), std::move(look));
  }

 private:
  HealthCheckResponse::ServingStatus StatusOf(const std::string& name) const {
    if (!name.empty() && !names_.contains(name)) return HealthCheckResponse::SERVICE_UNKNOWN;
    return dispatch_.draining() ? HealthCheckResponse::NOT_SERVING : HealthCheckResponse::SERVING;
  }

  const ServiceDispatch dispatch_;
  const std::set<std::string> names_;
};

// `names` are the full names of the services that the server has.
Service MakeHealthService(Dispatch& dispatch, std::set<std::string> names) {
  return {.name = Health::service_full_name(),
          .handlers = std::make_shared<HealthService>(dispatch, std::move(names))};
}

// Reflection is gRPC's own and takes no path of ours: the gate is asked before it begins.
class ReflectionGate final : public grpc::AuthMetadataProcessor {
 public:
  explicit ReflectionGate(identity::Gate& gate) : gate_(gate) {}

  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* connection,
                       OutputMetadata*, OutputMetadata*) override {
    const auto path = metadata.find(":path");
    if (path == metadata.end()) return grpc::Status::OK;
    absl::string_view method(path->second.data(), path->second.size());
    if (!absl::ConsumePrefix(&method, "/grpc.reflection.")) return grpc::Status::OK;
    return convert::ToGrpc(MayReflect(*connection));
  }

 private:
  absl::Status MayReflect(const grpc::AuthContext& connection) {
    TD_ASSIGN_OR_RETURN(const identity::Caller caller, identity::CallerOf(connection, ""));
    TD_RETURN_IF_ERROR(gate_.Count(caller.peer));
    return gate_.Admit(caller, identity::kReflectionRight, "");
  }

  identity::Gate& gate_;
};

std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const identity::Security* security) {
  if (security == nullptr || security->tls() == nullptr) return grpc::InsecureServerCredentials();
  auto credentials = security->tls()->ForServer();
  credentials->SetAuthMetadataProcessor(std::make_shared<ReflectionGate>(*security->gate()));
  return credentials;
}

void SetLimits(grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("server");
  quota.Resize(kGrpcMemoryBytes).SetMaxThreads(kGrpcThreads);
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxConnectionStreams);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  // gRPC's own estimate lets a fast peer fill megabytes before anybody reads.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.SetMaxReceiveMessageSize(kMaxRequestBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kKeepaliveMinimumMs);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Create(ReservedPort port,
                                                       const std::vector<ServiceFactory>& factories,
                                                       telemetry::trace::Tracer* tracer,
                                                       const identity::Security* security) {
  // Called before the first builder: linking the plug-in alone can be dropped by the linker.
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  TD_ASSIGN_OR_RETURN(identity::CallerTokens caller_tokens, identity::CallerTokens::Create());
  auto parts = std::make_unique<Parts>(tracer, security, std::move(caller_tokens));
  std::set<std::string> names;
  for (const ServiceFactory& factory : factories) {
    parts->services.push_back(factory(parts->dispatch));
    names.insert(parts->services.back().name);
    TD_RETURN_IF_ERROR(identity::CheckRights(parts->services.back().name));
  }
  parts->services.push_back(MakeHealthService(parts->dispatch, std::move(names)));

  grpc::ServerBuilder builder;
  SetLimits(builder);
  parts->hand = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      CredentialsOf(security));
  for (const Service& service : parts->services) builder.RegisterService(service.handlers.get());
  TD_RETURN_IF_ERROR(WithLowPriority([&] { parts->server = builder.BuildAndStart(); }));
  if (parts->server == nullptr) return absl::InternalError("gRPC's server did not start");
  TD_ASSIGN_OR_RETURN(
      parts->acceptor,
      Acceptor::Create(std::move(port),
                       [raw = parts.get()](dataplane::Fd socket, const std::string& peer) {
                         return raw->Take(std::move(socket), peer);
                       }));
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { Shutdown(absl::ZeroDuration()); }

void Server::Drain() { parts_->dispatch.Drain(); }

int Server::port() const { return parts_->acceptor->port(); }

std::shared_ptr<grpc::Channel> Server::OwnChannel() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  return parts_->server->InProcessChannel(arguments);
}

const identity::CallerTokens& Server::caller_tokens() const {
  return parts_->dispatch.caller_tokens();
}

std::vector<std::string> Server::services() const {
  std::vector<std::string> names;
  for (const Service& service : parts_->services) names.push_back(service.name);
  names.pop_back();  // health comes last, and is the server's own
  return names;
}

void Server::AddMetrics(telemetry::Page& page) const {
  page.Add("tapedeck_tls_handshakes_failed_total", parts_->handshakes.failed());
  page.Add("tapedeck_connections_turned_away_total", parts_->acceptor->turned_away());
}

void Server::Shutdown(absl::Duration grace) {
  parts_->acceptor->Stop();
  parts_->dispatch.Stop();
  const absl::Time now = dataplane::WallTime();
  parts_->server->Shutdown(absl::ToChronoTime(now + grace));
}

}  // namespace tapedeck::services::server
