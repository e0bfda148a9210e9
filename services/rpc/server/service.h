// What a room gives the server shell: a gRPC service that is made around the server's dispatch
// path. Opaque, so that programs assemble a server without gRPC's headers.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace grpc {
class Service;
}

namespace tapedeck::services::server {

class Dispatch;

struct Service {
  std::string name;  // full name, as health and reflection show it
  // shared_ptr because it can delete a type that is incomplete here.
  std::shared_ptr<grpc::Service> handlers;
};

// `dispatch` outlives the service.
using ServiceFactory = std::function<Service(Dispatch& dispatch)>;

}  // namespace tapedeck::services::server
