// The console of a storage node: its web page, and the calls of the node and of the workers that it
// knows as JSON over HTTP. A call takes the path of all calls, with the rights of whoever asks, who
// proves with a certificate who he is as on gRPC's port.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "services/console/calls.h"
#include "services/console/http_server.h"
#include "services/console/settings.h"
#include "services/rpc/identity/caller.h"

namespace google::protobuf {
class MethodDescriptor;
}

namespace tapedeck::services::identity {
class Security;
class CallerTokens;
}  // namespace tapedeck::services::identity

namespace tapedeck::services::server {
class Server;
}

namespace tapedeck::services::console {

// What a page is told of the node.
struct NodeFacts {
  std::string name;
  std::string listen;  // HOST:PORT of gRPC
};

// Owned by main; goes before the server. Its own thread does all, but for gRPC's.
class Console final : private HttpHandler {
 public:
  // `security` and `server` outlive it. Listens nowhere where the settings name no address. Errors
  // are those of StartHttpServer, and TLS_UNUSABLE.
  static absl::StatusOr<std::unique_ptr<Console>> Create(const Settings& settings, NodeFacts node,
                                                         const identity::Security& security,
                                                         server::Server& server);
  // Cuts all connections and cancels their calls.
  ~Console() override;

  // 0: none.
  int port() const { return http_ == nullptr ? 0 : http_->port(); }

 private:
  struct Place;  // where calls go
  struct Asked;  // one call, before it starts

  Console(NodeFacts node, const identity::Security& security,
          const identity::CallerTokens& caller_tokens);

  absl::Status AddPlaces(const Settings& settings, server::Server& server);

  // All below is on the loop.
  void OnRequest(HttpServer& server, uint64_t number, HttpRequest request) override;
  void OnGone(uint64_t number) override;

  absl::Status Route(HttpServer& server, uint64_t number, HttpRequest& request);
  absl::StatusOr<Asked> Ask(const HttpRequest& request, const identity::Caller& caller) const;
  // Of the calls and streams that one identity may have, for this one. Without certificates nobody
  // is told apart.
  absl::Status TakeShare(uint64_t number, const std::string& who);
  absl::Status StartCall(HttpServer& server, uint64_t number, Asked asked);
  absl::Status StartStream(HttpServer& server, uint64_t number, Asked asked);
  absl::StatusOr<identity::Caller> CallerOf(const HttpRequest& request) const;
  absl::Status MayPassOn(const google::protobuf::MethodDescriptor& method,
                         const google::protobuf::Message& request,
                         const identity::Caller& caller) const;
  HttpAnswer About(const identity::Caller& caller) const;
  void SignsOfLife();

  const NodeFacts node_;
  const identity::Security& security_;
  const identity::CallerTokens& caller_tokens_;
  std::map<std::string, Place> places_;  // by what stands before the call in a path
  std::vector<std::string> workers_;
  std::map<uint64_t, HttpServer*> streams_;
  std::map<uint64_t, std::string> owners_;  // of calls and streams, by their identity
  std::unique_ptr<dataplane::EventLoop> loop_;
  std::unique_ptr<Calls> calls_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace tapedeck::services::console
