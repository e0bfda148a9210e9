#include "services/rpc/client/calls/calls_for.h"

#include <utility>

#include "services/rpc/identity/caller.h"

namespace tapedeck::services::client {
namespace {

using grpc::experimental::InterceptionHookPoints;

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

}  // namespace

std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> CallsFor(
    const std::string& identity) {
  return std::make_unique<CallsForFactory>(identity);
}

}  // namespace tapedeck::services::client
