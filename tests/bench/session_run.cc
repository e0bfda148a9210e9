#include "tests/bench/session_run.h"

#include <csignal>
#include <future>
#include <utility>

#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/observe/flight/trails.h"
#include "services/rpc/session_stream/control_streams.h"
#include "tests/bench/ends.h"

namespace tapedeck::bench {
namespace {

using services::session::Direction;

services::session::ClientSessionSettings SessionSettingsOf(const SessionRun& run,
                                                           const services::client::Channel& node,
                                                           const dataplane::RailSet& rails) {
  services::session::ClientSessionSettings settings{
      .node = node.address,
      .transports = rails.transports(),
      .connections_per_rail = run.connections_per_rail,
      .trail = services::flight::Trails().New({})};
  settings.open.direction = run.direction;
  (run.direction == Direction::kRecord ? settings.open.channel : settings.open.recording) =
      run.target;
  settings.open.recorder = "tapedeck-bench";
  settings.open.op = run.op;
  settings.open.labels = run.labels;
  settings.open.slots = run.slots;
  settings.open.slot_bytes = run.block_bytes;
  return settings;
}

volatile std::sig_atomic_t interrupted = 0;

// For that long, or until the process is interrupted.
void Hold(absl::Duration duration) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  const absl::Time end = dataplane::SteadyTime() + duration;
  while (interrupted == 0 && dataplane::SteadyTime() < end) absl::SleepFor(absl::Milliseconds(50));
}

}  // namespace

absl::StatusOr<SessionOutcome> RunSession(const SessionRun& run,
                                          const services::client::Channel& node,
                                          dataplane::RailSet& rails, dataplane::EventLoop& loop) {
  SessionOutcome outcome;
  GapMeter gaps(loop.clock());
  const int64_t start_ns = loop.clock().NowNs();
  services::session::ClientSessionSettings settings = SessionSettingsOf(run, node, rails);
  settings.make_end = [&](const auto&) -> absl::StatusOr<services::session::TransferEnd> {
    TD_ASSIGN_OR_RETURN(auto ring, MakeHostRing(run.slots, run.block_bytes));
    services::session::TransferEnd end{.ring = ring, .check_payload = run.crc != Checks::kNone};
    if (run.direction == Direction::kRecord) {
      end.source = MakePassthroughSource(ring, {.blocks = run.blocks,
                                                .crc = run.crc,
                                                .endless = run.hold > absl::ZeroDuration(),
                                                .on_block = [&] { gaps.Moved(); }});
    } else {
      end.sink = MakeNullSink([&] {
        gaps.Moved();
        if (outcome.open_to_first_block_ns == 0) {
          outcome.open_to_first_block_ns = loop.clock().NowNs() - start_ns;
        }
      });
    }
    return end;
  };
  std::promise<void> ended;
  const auto on_change = [&](const services::session::Snapshot& snapshot) {
    // Recording: the first acknowledged block that a snapshot shows.
    if (run.direction == Direction::kRecord && outcome.open_to_first_block_ns == 0 &&
        snapshot.running) {
      outcome.open_to_first_block_ns = snapshot.setup_ns;
    }
    outcome.snapshot = snapshot;
    if (snapshot.ended) ended.set_value();
  };
  services::session_stream::StreamOpener opener;
  std::unique_ptr<services::session::ClientSession> session;
  loop.RunAndWait([&] {
    session = std::make_unique<services::session::ClientSession>(loop, std::move(settings),
                                                                 opener.Open(node));
    session->Start(on_change);
  });
  if (run.hold > absl::ZeroDuration()) {
    Hold(run.hold);
    loop.RunAndWait([&] { session->Stop(); });
  }
  ended.get_future().wait();
  loop.RunAndWait([&] { session.reset(); });
  outcome.longest_gap_ns = gaps.longest_ns();
  TD_RETURN_IF_ERROR(outcome.snapshot.error);
  return outcome;
}

}  // namespace tapedeck::bench
