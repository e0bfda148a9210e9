// Where a session of the storage node stands, by what it has so far.
#pragma once

#include "services/session/serving/host.h"
#include "services/session/serving/phases.h"
#include "services/session/transfer/data_path.h"
#include "services/session/transfer/rails.h"

namespace tapedeck::services::session {

// On the session's executor. Null: not yet; `rails` come with the `data_path`.
Standing StandingOf(const AdmissionWatch* admission, const DataPath* data_path, const Rails* rails,
                    bool pump_done);

}  // namespace tapedeck::services::session
