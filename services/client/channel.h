// A connection to a node, made with the settings that both ends agree on.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace grpc {
class Channel;
}

namespace tapedeck::services::client {

// A value. gRPC shares its channels between threads, hence the shared_ptr.
struct Channel {
  std::string address;  // HOST:PORT
  std::shared_ptr<grpc::Channel> channel;
};

// Connects when first used; an attempt takes at most 5 s.
Channel MakeChannel(const std::string& address);

// Blocks until connected. UNAVAILABLE (NODE_UNREACHABLE) names the node.
absl::Status WaitForConnected(const Channel& channel, absl::Duration timeout);

}  // namespace tapedeck::services::client
