// Puts what the flight recorders of several nodes hold on one clock, and draws it: a track for each
// thread with every stamp; tracks of each rail, device, member and session with what took time
// there; counters; and arrows that join the stamps of one block over both nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/observe/flight/trace.h"
#include "services/observe/timeline/perfetto_file.h"

namespace tapedeck::services::timeline {

struct NodeTrace {
  std::string address;  // HOST:PORT that it came from, or the file
  flight::Trace trace;
};

// A stamp on the timeline's clock.
struct Moment {
  int64_t time_ns = 0;
  uint32_t node = 0;     // index of its NodeTrace
  uint32_t thread = 0;   // number of its thread there
  uint32_t session = 0;  // index of its session; the same on both nodes
  flight::Entry entry;
};

// One session, as all nodes know it together.
struct Session {
  std::string name;  // "s000001"; empty: it was never opened
  std::string storage;
  std::string job;
  std::string recording;
  bool playback = false;
  std::vector<std::string> rails;
};

// Of a node.
struct NodeClock {
  bool known = false;  // else its stamps lie where its own clock has them
  // The node's clock less the timeline's, where its first and last stamp are.
  flight::ClockOffset first;
  flight::ClockOffset last;
  // The largest there is.
  int64_t uncertainty_ns = 0;
};

struct Merged {
  std::vector<Session> sessions;
  std::vector<NodeClock> clocks;  // by node
  std::vector<Moment> moments;    // in order of time
  uint64_t left_out = 0;          // older ones, beyond `most`
};

// The timeline's clock is that of the first node. `most`: the newest so many stamps.
Merged Merge(const std::vector<NodeTrace>& nodes, size_t most);

// No stamp takes more bytes of a file than this, with all that is drawn of it: its instant, its end
// of a slice, two counters and its place in a track's description.
inline constexpr uint64_t kMaxStampBytes = 640;

absl::Status Draw(const std::vector<NodeTrace>& nodes, const Merged& merged, PerfettoFile& file);

}  // namespace tapedeck::services::timeline
