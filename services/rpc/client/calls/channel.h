// A connection to a node, made with the settings that both ends agree on.
#pragma once

#include <memory>
#include <string>

#include "services/base/trace/span.h"

namespace grpc {
class Channel;
}

namespace tapedeck::services::identity {
class Tls;
}

namespace tapedeck::services::client {

// A value. gRPC shares its channels between threads, hence the shared_ptr.
struct Channel {
  std::string address;  // as it was named
  std::shared_ptr<grpc::Channel> channel;
};

// How a channel proves whose it is. A value.
struct Credentials {
  std::shared_ptr<const identity::Tls> tls;  // null: plain text
  std::string acting_for;                    // whose calls these are; empty: the certificate's own
};

// `address` is one node (services/base/addresses/node_name.h), and what that says is what is
// called. Connects when first used. A call fails at once where the node refuses, after 5 s where
// nothing answers. Calls are told of under `trace`, which goes with them.
Channel MakeChannel(const std::string& address, const telemetry::trace::Branch& trace = {},
                    const Credentials& credentials = {});

}  // namespace tapedeck::services::client
