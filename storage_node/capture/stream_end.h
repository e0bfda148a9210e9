// How a stream ended whose last segment was closed as full before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "storage_node/recording/hold.h"

namespace tapedeck::storage_node::capture {

// A value.
struct StreamEnd {
  std::string recording;    // that segment
  int64_t end_time_ns = 0;  // when it was closed; another time: the stream has gone on since
  absl::Status cause;       // of the session
  std::string early;        // why it ended early without a failure; empty: it did not
  std::shared_ptr<recording::Hold> hold;  // the segment stays, and no session goes on with it
};

}  // namespace tapedeck::storage_node::capture
