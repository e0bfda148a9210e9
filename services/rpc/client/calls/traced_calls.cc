#include "services/rpc/client/calls/traced_calls.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "services/base/trace/rpc.h"
#include "services/rpc/client/calls/pulse.h"
#include "services/rpc/convert/values/status.h"

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

}  // namespace

std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> TracedCalls(
    const std::string& address, const trace::Branch& branch) {
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
  if (branch.tracer != nullptr || branch.above.valid()) {
    factories.push_back(std::make_unique<TracedCallFactory>(address, branch));
  }
  return factories;
}

}  // namespace tapedeck::services::client
