// The calls of a channel that are made for somebody else, of whom the node is told.
#pragma once

#include <grpcpp/support/client_interceptor.h>

#include <memory>
#include <string>

namespace tapedeck::services::client {

// For gRPC's channel. The node believes it of an identity that may act for others.
std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface> CallsFor(
    const std::string& identity);

}  // namespace tapedeck::services::client
