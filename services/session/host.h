// The seam between a session and the node that serves it: the node answers an Open with the source
// or sink the session shall pump.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/executor/executor.h"
#include "dataplane/ladder/ring_fit.h"
#include "dataplane/memory/slot_pool.h"
#include "dataplane/payload_crc.h"
#include "dataplane/sink.h"
#include "dataplane/source.h"
#include "services/session/messages.h"

namespace tapedeck::services::session {

// Exactly one of sink (record) and source (playback) is set.
struct Admission {
  std::unique_ptr<dataplane::Sink> sink;
  std::unique_ptr<dataplane::Source> source;
  std::shared_ptr<dataplane::SlotPool>
      ring;                               // the sink's blocks come from here, the source's lie here
  Accept accept;                          // without session, slots, rails and wire limit
  std::function<std::string()> verifier;  // for Progress, any time; null: none
  bool check_payload = true;              // as in TransferEnd
  std::shared_ptr<dataplane::PayloadCrc> payload_crc;  // as in TransferEnd
  dataplane::ladder::Registration registration;        // as in TransferEnd
};

class SessionHost {
 public:
  virtual ~SessionHost() = default;

  // Called on `executor`, on which the returned objects live from then on.
  virtual absl::StatusOr<Admission> Admit(const Open& open, dataplane::Executor& executor) = 0;
};

}  // namespace tapedeck::services::session
