// What a session is made of, once the storage node has admitted it: the answer that its worker
// gets, and the node's end of the transfer.
#pragma once

#include <string>
#include <vector>

#include "dataplane/transport/transport.h"
#include "services/session/serving/host.h"
#include "services/session/transfer/data_path.h"

namespace tapedeck::services::session {

// With what the session adds to the node's part of it: its name, its slots and its rails.
Accept AcceptOf(const Admission& admission, const std::string& session,
                const std::vector<dataplane::Transport*>& transports);

// Moved out of it, but for the ring and the stages, which the session's progress needs too.
TransferEnd TakeEnd(Admission& admission);

}  // namespace tapedeck::services::session
