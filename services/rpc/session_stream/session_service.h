// tapedeck.v1.SessionService: the serving end of control streams.
#pragma once

#include <string>

#include "services/rpc/server/service.h"
#include "services/session/protocol/control.h"

namespace tapedeck::services::session_stream {

// Who a call's limits are counted for: the identity, or where there is none the host of gRPC's
// `peer`, without the port.
std::string CallerKey(const std::string& identity, const std::string& peer);

// `acceptor` gets every stream that peers open, on a gRPC thread, and outlives the server.
server::ServiceFactory SessionServiceOver(session::SessionAcceptor& acceptor);

}  // namespace tapedeck::services::session_stream
