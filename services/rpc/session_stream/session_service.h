// tapedeck.v1.SessionService: the serving end of control streams.
#pragma once

#include "services/rpc/server/service.h"
#include "services/session/protocol/control.h"

namespace tapedeck::services::session_stream {

// `acceptor` gets every stream that peers open, on a gRPC thread, and outlives the server.
server::ServiceFactory SessionServiceOver(session::SessionAcceptor& acceptor);

}  // namespace tapedeck::services::session_stream
