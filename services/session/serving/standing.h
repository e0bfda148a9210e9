// Where a session of the storage node stands, by what it has so far.
#pragma once

#include "services/session/serving/host.h"
#include "services/session/serving/phases.h"
#include "services/session/transfer/rails.h"
#include "services/session/transfer/transfer.h"

namespace tapedeck::services::session {

// On the session's executor. Null: not yet; `rails` come with the `transfer`.
Standing StandingOf(const AdmissionWatch* admission, const Transfer* transfer, const Rails* rails,
                    bool pump_done);

}  // namespace tapedeck::services::session
