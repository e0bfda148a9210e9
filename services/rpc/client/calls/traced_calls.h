// The calls of a channel, told of as spans that go with them to the node.
#pragma once

#include <grpcpp/support/client_interceptor.h>

#include <memory>
#include <string>
#include <vector>

#include "services/base/trace/span.h"

namespace tapedeck::services::client {

// For gRPC's channel to `address`: a span of each call under `trace`. None where there is no trace.
std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> TracedCalls(
    const std::string& address, const telemetry::trace::Branch& trace);

}  // namespace tapedeck::services::client
