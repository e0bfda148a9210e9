// What a session is made of, once the storage node has admitted it: the answer that its worker
// gets, the node's end of the transfer, and where it stands by what it has so far.
#pragma once

#include <string>
#include <vector>

#include "dataplane/transport/transport.h"
#include "services/session/serving/host.h"
#include "services/session/serving/phases.h"
#include "services/session/transfer/data_path.h"
#include "services/session/transfer/rails.h"

namespace tapedeck::services::session {

// With what the session adds to the node's part of it: its name, its slots and its rails.
Accept AcceptOf(const Admission& admission, const std::string& session,
                const std::vector<dataplane::Transport*>& transports);

// Moved out of it, but for the ring and the stages, which the session's progress needs too.
TransferEnd TakeEnd(Admission& admission);

// On the session's executor. Null: not yet; `rails` come with the `data_path`.
PhaseState PhaseStateOf(const AdmissionWatch* admission, const DataPath* data_path,
                        const Rails* rails, bool pump_done);

}  // namespace tapedeck::services::session
