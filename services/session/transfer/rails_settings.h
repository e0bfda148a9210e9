// What the rails of a session are told of it.
#pragma once

#include <cstdint>
#include <memory>

#include "dataplane/transfer/arrival_crcs.h"
#include "dataplane/transport/transport.h"
#include "services/observe/flight/trails.h"
#include "services/session/transfer/session_trace.h"

namespace tapedeck::services::session {

struct RailsSettings {
  bool initiate = false;
  bool peer_ends = false;  // the session: a link that goes down may be the end of it
  uint32_t connections_per_rail = 1;
  dataplane::RemoteAccess access = dataplane::RemoteAccess::kNone;
  std::shared_ptr<flight::TrailRecord> trail;  // null: none. Shared with who shows it
  SessionTrace* trace = nullptr;               // set; outlives the rails
  // What pollers compute of what arrives; null: nothing. Shared by the links.
  std::shared_ptr<dataplane::ArrivalCrcs> arrivals;
};

}  // namespace tapedeck::services::session
