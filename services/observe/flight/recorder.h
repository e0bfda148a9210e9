// The flight recorder of a node, as its main puts it together: whose stamps there are, what failed
// sessions leave, and who reads both.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "services/observe/flight/dumps.h"
#include "services/observe/flight/reader.h"
#include "services/observe/flight/trace.h"
#include "services/observe/flight/trails.h"

namespace tapedeck::services::flight {

// Owned by main; outlives the sessions and the server. Any thread.
class Recorder {
 public:
  // `state_dir`, made if it is not there: where sessions that failed leave dumps, in a directory
  // `flight`; empty: they leave none. RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<Recorder>> Create(TraceNode node,
                                                          const std::string& state_dir,
                                                          TraceCodec codec);

  Trails& trails() { return trails_; }
  const Reader& reader() const { return reader_; }

 private:
  Recorder(TraceNode node, std::unique_ptr<Dumps> dumps);

  Trails trails_;
  const std::unique_ptr<Dumps> dumps_;
  const Reader reader_;
};

}  // namespace tapedeck::services::flight
