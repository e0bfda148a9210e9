// Control streams over gRPC (tapedeck.v1.SessionService): the end that opens them, and the end that
// serves them.
#pragma once

#include <memory>
#include <string>

#include "services/rpc/client/calls/channel.h"
#include "services/rpc/server/service.h"
#include "services/session/protocol/control.h"

namespace tapedeck::services::session_stream {

class CallReaper;

// Opens streams, and gives up their connections on a thread of its own: gRPC 1.51 reads freed
// memory when the last channel of a process goes on one of gRPC's threads. Any thread.
class StreamOpener {
 public:
  StreamOpener();
  // After its streams; waits until gRPC has let go of them.
  ~StreamOpener();

  // The call is made by Start. A node that cannot be reached shows in OnClosed (NODE_UNREACHABLE),
  // at the latest after the channel's connect time.
  std::unique_ptr<session::ControlStream> Open(const client::Channel& channel);

 private:
  const std::unique_ptr<CallReaper> reaper_;
};

// Who a call's limits are counted for: the identity, or where there is none the host of gRPC's
// `peer`, without the port.
std::string CallerKey(const std::string& identity, const std::string& peer);

// `acceptor` gets every stream that peers open, on a gRPC thread, and outlives the server.
server::ServiceFactory SessionServiceOver(session::SessionAcceptor& acceptor);

}  // namespace tapedeck::services::session_stream
