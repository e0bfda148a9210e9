// What the two ends of a session tell each other over their control stream, as plain values.
// services/rpc/convert translates them to tapedeck.v1 messages; the simulator passes them as they
// are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/block/flow.h"
#include "dataplane/transfer/counters.h"
#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/transport.h"
#include "services/base/trace/span.h"
#include "services/base/version.h"
#include "services/model/playhead.h"
#include "services/model/rail_progress.h"
#include "services/model/recording/group.h"
#include "services/model/recording/origin.h"
#include "services/model/recording/part.h"
#include "services/model/words/stage_time.h"
#include "services/observe/flight/peer_clock.h"

namespace tapedeck::services::session {

using dataplane::CommitLevel;
using dataplane::Direction;
using dataplane::TransferOp;
using dataplane::Watermarks;
using model::Playhead;
using model::RailProgress;
using services::kProtocolVersion;

// Which recording goes on, and how the worker shows that it is its own.
struct Resume {
  std::string recording;
  std::string token;         // secret: of Accept
  uint64_t first_block = 0;  // the lowest that the worker still has
};

// What a copy has its blocks from.
struct Original {
  std::string recording;  // its name, on whatever node
  std::string uid;
  int64_t open_time_ns = 0;
  std::vector<std::string> earlier;  // what it was a copy of, and so on, newest first
};

// Names follow the resource names of the catalog: luns/L/channels/C and
// luns/L/channels/C/recordings/R.
struct Open {
  uint32_t version = kProtocolVersion;
  Direction direction = Direction::kRecord;
  std::string channel;    // to record into
  std::string recording;  // to play
  std::string recorder;   // who opens: shown in the recording and in node descriptions
  std::string request_id;
  std::string traceparent;  // W3C Trace Context
  std::string tracestate;
  std::optional<TransferOp> op;  // none: the channel's op is used
  uint32_t slots = 0;            // of the worker's ring
  uint64_t slot_bytes = 0;
  uint64_t expected_blocks = 0;                // 0: unknown
  std::map<std::string, std::string> labels;   // the user's own, kept with the recording
  model::Origin origin;                        // record: how the blocks are made
  std::optional<model::RecordingGroup> group;  // record
  std::optional<model::Part> part;             // record
  Playhead playhead;                           // playback
  std::optional<Resume> resume;                // record: none makes a new recording
  std::optional<Original> original;            // record: none: it is no copy
  uint32_t trail = 0;                          // of the serving end's stamps; not sent
  telemetry::trace::Branch trace;              // of this end's session; not sent
};

// One end's side of one connection; the generation counts its re-connections.
struct RailOffer {
  std::string rail;
  uint32_t connection = 0;
  uint32_t generation = 0;
  dataplane::Endpoint endpoint;
  dataplane::RemoteWindow window;
};

struct RailName {
  std::string name;
  std::string transport;
  std::string address;
};

struct Accept {
  std::string session;
  std::string recording;
  std::string datatype;
  double sample_rate = 0;
  TransferOp op = TransferOp::kRead;
  CommitLevel commit = CommitLevel::kDurable;
  uint64_t block_bytes = 0;
  uint32_t slots = 0;
  uint64_t blocks = 0;       // playback: blocks that will come; 0: unknown, it still grows
  uint64_t first_block = 0;  // playback: of the recording, the first that will come
  uint64_t wire_limit_bytes_per_s = 0;
  std::vector<RailName> rails;
  std::map<std::string, std::string> labels;  // playback: of the recording
  std::string resume_token;     // record: secret, of 16 bytes; empty: it cannot go on if it is lost
  uint64_t next_block = 0;      // record, resumed: the first that the storage node needs
  std::string verifier;         // as in Progress
  uint64_t missing_blocks = 0;  // record, resumed: of those below, missing for good
};

// The sender has no more blocks; there were `blocks`.
struct EndOfStream {
  uint64_t blocks = 0;
  std::string cause;  // why it ends before its source did; empty: the source has ended
};

struct Progress {
  std::string verifier;  // new after any loss of written data: re-send from the durable watermark
  Watermarks watermarks;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  dataplane::Counters counters;  // of the end that says so
  std::vector<RailProgress> rails;
  std::string phase;  // before Accept: what the storage node still has to do for it
  flight::ClockReading clock;
  StageTimes stage_times;              // of the end that says so
  std::optional<double> memory_ready;  // 0 to 1; none: `phase` is about something else
  std::vector<std::string> captures;   // of a triggered channel, the newest
  bool operator==(const Progress&) const = default;
};

// The receiver's end is complete at the commit level, or closed early for `cause`.
struct Finished {
  absl::Status cause;
  Progress progress;
};

using Message = std::variant<Open, Accept, RailOffer, EndOfStream, Progress, Finished>;

}  // namespace tapedeck::services::session
