// The storage node of a session, and how it is reached. A value.
#pragma once

#include <string>
#include <vector>

#include "services/base/trace/span.h"
#include "services/model/seams/node.h"
#include "services/rpc/client/calls/channel.h"

namespace tapedeck::services::storage_session {

struct Peer {
  std::string address;  // HOST:PORT
  telemetry::trace::Branch trace;
  client::Credentials credentials;
  std::vector<NodeRail> rails;  // as the node tells of them
};

}  // namespace tapedeck::services::storage_session
