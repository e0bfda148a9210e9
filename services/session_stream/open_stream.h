// The opening end of control streams.
#pragma once

#include <memory>

#include "services/client/channel.h"
#include "services/session/control.h"

namespace tapedeck::services::session_stream {

// The call is made by Start. A node that cannot be reached shows in OnClosed (NODE_UNREACHABLE), at
// the latest after the channel's connect time.
std::unique_ptr<session::ControlStream> OpenSessionStream(const client::Channel& channel);

}  // namespace tapedeck::services::session_stream
