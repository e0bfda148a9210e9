// tapedeck-bench: Tapedeck's side of tests/bench/*.sh. Starts a storage node of its own and drives
// it with the product's own session code.
//   tapedeck-bench transfer --rails 127.0.0.1,127.0.0.2 --seconds 4 --block-bytes 1MiB --json
//   tapedeck-bench transfer --store direct --member /disk/empty --seconds 10
//   tapedeck-bench session --sessions 50 --json
//   tapedeck-bench rails --rails verbs:10.0.0.1 --op WRITE --direction playback --crc off
//   tapedeck-bench rails --rails 127.0.0.1,127.0.0.2 --connections-per-rail 4 --crc once
//   tapedeck-bench bare --rails 127.0.0.1,127.0.0.2 --connections-per-rail 4 --seconds 4
//   tapedeck-bench crc --blocks 500
//   tapedeck-bench store --store direct --member /disk/empty --blocks 4000 --commit durable
//   tapedeck-bench sharing --store direct --member /disk/empty --seconds 3
//   tapedeck-bench restart --directory /disk/empty
//   tapedeck-bench calls --callers 2 --seconds 4
//   tapedeck-bench null-node --listen 127.0.0.1:7400 --rail r0=verbs:10.0.0.1

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/status_macros.h"
#include "services/base/process/daemon.h"
#include "services/rpc/grpc_process.h"
#include "services/rpc/identity/tls/tls.h"
#include "services/rpc/server/signals.h"
#include "storage_node/store/rados/settings.h"
#include "tests/bench/bare_run.h"
#include "tests/bench/calls_run.h"
#include "tests/bench/node_process.h"
#include "tests/bench/null_node.h"
#include "tests/bench/options.h"
#include "tests/bench/restart_run.h"
#include "tests/bench/session_run.h"
#include "tests/bench/sharing_run.h"
#include "tests/bench/store_run.h"

namespace tapedeck::bench {
namespace {

using services::session::Direction;

// --rails takes ADDRESS (over TCP) or KIND:ADDRESS; the rails are called r0, r1, ...
std::vector<std::string> RailSpecs(const Options& options) {
  std::vector<std::string> specs;
  for (const std::string& rail : options.rails) {
    const char* kind = rail.find(':') == std::string::npos ? "tcp:" : "";
    specs.push_back(absl::StrCat("r", specs.size(), "=", kind, rail));
  }
  return specs;
}

// The worker's side: rails and a session thread.
struct Worker {
  std::unique_ptr<dataplane::RailSet> rails;
  std::unique_ptr<dataplane::EventLoop> loop;
};

absl::StatusOr<Worker> MakeWorker(const Options& options) {
  Worker worker;
  TD_ASSIGN_OR_RETURN(worker.rails,
                      dataplane::RailSet::Create(RailSpecs(options), {.tls = options.rail_tls}));
  TD_ASSIGN_OR_RETURN(worker.loop, dataplane::EventLoop::Create("session"));
  return worker;
}

struct Rate {
  uint64_t bytes = 0;
  int64_t ns = 0;
  double mb_per_s() const {
    return ns == 0 ? 0 : static_cast<double>(bytes) * 1e3 / static_cast<double>(ns);
  }
  void Add(const services::session::Snapshot& snapshot) {
    bytes += snapshot.bytes;
    ns += snapshot.elapsed_ns;
  }
};

// Records the LUN full, plays it back, deletes it, and again until both have taken the time asked
// for.
absl::StatusOr<nlohmann::json> Transfer(const Options& options) {
  dataplane::flight::SetOn(options.flight);
  std::vector<std::string> more;
  if (options.rail_tls) more = {"--rail-tls", "on"};
  if (!options.admin.empty()) more.insert(more.end(), {"--admin", options.admin});
  TD_ASSIGN_OR_RETURN(const auto node, NodeProcess::Start(NodeProgram::kStorage, RailSpecs(options),
                                                          more, options.tls));
  TD_RETURN_IF_ERROR(node->MakeChannel({.name = "luns/bench",
                                        .store = options.members.empty() ? "memory" : options.store,
                                        .members = options.members,
                                        .capacity_bytes = options.lun_bytes},
                                       options.block_bytes));
  TD_ASSIGN_OR_RETURN(const Worker worker, MakeWorker(options));
  Rate record;
  Rate play;
  uint64_t crc_errors = 0;
  while (static_cast<double>(record.ns + play.ns) < options.seconds * 1e9) {
    SessionRun run{.direction = Direction::kRecord,
                   .target = "luns/bench/channels/bench",
                   // Slots that are granted and not yet filled count as used.
                   .blocks = options.lun_bytes / options.block_bytes - 2 * options.slots,
                   .block_bytes = options.block_bytes,
                   .slots = options.slots,
                   .connections_per_rail = options.connections};
    TD_ASSIGN_OR_RETURN(const SessionOutcome recorded,
                        RunSession(run, node->channel(), *worker.rails, *worker.loop));
    record.Add(recorded.snapshot);
    run.direction = Direction::kPlayback;
    run.target = recorded.snapshot.accept.recording;
    TD_ASSIGN_OR_RETURN(const SessionOutcome played,
                        RunSession(run, node->channel(), *worker.rails, *worker.loop));
    play.Add(played.snapshot);
    crc_errors += recorded.snapshot.counters.crc_errors + played.snapshot.counters.crc_errors;
    TD_RETURN_IF_ERROR(node->catalog().DeleteRecording(run.target));
  }
  return nlohmann::json{{"record_mb_per_s", record.mb_per_s()},
                        {"play_mb_per_s", play.mb_per_s()},
                        {"record_bytes", record.bytes},
                        {"play_bytes", play.bytes},
                        {"crc_errors", crc_errors}};
}

double Percentile(const std::vector<double>& sorted, double p) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(p * static_cast<double>(sorted.size())))];
}

// Opens sessions one after the other, each a playback of a short recording.
absl::StatusOr<nlohmann::json> Sessions(const Options& options) {
  TD_ASSIGN_OR_RETURN(const auto node, NodeProcess::Start(NodeProgram::kStorage, RailSpecs(options),
                                                          {}, options.tls));
  TD_RETURN_IF_ERROR(node->MakeChannel(
      {.name = "luns/bench", .store = "memory", .capacity_bytes = 512 << 20}, options.block_bytes));
  TD_ASSIGN_OR_RETURN(const Worker worker, MakeWorker(options));
  SessionRun run{.direction = Direction::kRecord,
                 .target = "luns/bench/channels/bench",
                 .blocks = 16,
                 .block_bytes = options.block_bytes,
                 .slots = 8};
  TD_ASSIGN_OR_RETURN(const SessionOutcome recorded,
                      RunSession(run, node->channel(), *worker.rails, *worker.loop));
  run.direction = Direction::kPlayback;
  run.target = recorded.snapshot.accept.recording;
  std::vector<double> ms;
  for (int i = 0; i < options.sessions; ++i) {
    // A connection of its own, as every job of a worker has.
    const services::client::Channel channel = node->NewChannel();
    TD_ASSIGN_OR_RETURN(const SessionOutcome played,
                        RunSession(run, channel, *worker.rails, *worker.loop));
    ms.push_back(static_cast<double>(played.open_to_first_block_ns) / 1e6);
  }
  std::ranges::sort(ms);
  return nlohmann::json{
      {"sessions", ms.size()},
      {"open_to_first_block_ms",
       {{"p50", Percentile(ms, 0.5)}, {"p99", Percentile(ms, 0.99)}, {"max", ms.back()}}}};
}

// One session to a null node: the rails and the session alone.
absl::StatusOr<nlohmann::json> RailsAlone(const Options& options) {
  std::unique_ptr<NodeProcess> own;
  services::client::Channel node;
  if (options.node.empty()) {
    TD_ASSIGN_OR_RETURN(own, NodeProcess::Start(NodeProgram::kNull, RailSpecs(options)));
    node = own->channel();
  } else {
    node = services::client::MakeChannel(options.node);
  }
  TD_ASSIGN_OR_RETURN(const Worker worker, MakeWorker(options));
  const NullStream stream{.blocks = options.blocks,
                          .block_bytes = options.block_bytes,
                          .slots = options.slots,
                          .crc = options.crc};
  const SessionRun run{.direction = options.direction,
                       .target = "null",
                       .blocks = options.blocks,
                       .block_bytes = options.block_bytes,
                       .slots = options.slots,
                       .op = options.op,
                       .crc = options.crc,
                       .connections_per_rail = options.connections,
                       .labels = ToLabels(stream),
                       .hold = absl::Seconds(options.hold_s)};
  TD_ASSIGN_OR_RETURN(const SessionOutcome outcome,
                      RunSession(run, node, *worker.rails, *worker.loop));
  Rate rate;
  rate.Add(outcome.snapshot);
  nlohmann::json rails = nlohmann::json::array();
  for (const auto& rail : outcome.snapshot.rails) {
    rails.push_back({{"name", rail.name}, {"blocks", rail.blocks}});
  }
  const double wire_limit_mb_per_s =
      static_cast<double>(outcome.snapshot.accept.wire_limit_bytes_per_s) / 1e6;
  nlohmann::json answer{{"mb_per_s", rate.mb_per_s()},
                        {"blocks", outcome.snapshot.blocks},
                        {"retransmitted_blocks", outcome.snapshot.counters.retransmitted_blocks},
                        {"longest_gap_ms", static_cast<double>(outcome.longest_gap_ns) / 1e6},
                        {"rails", rails}};
  if (wire_limit_mb_per_s > 0) {
    answer["wire_limit_mb_per_s"] = wire_limit_mb_per_s;
    answer["of_wire_limit"] = rate.mb_per_s() / wire_limit_mb_per_s;
  }
  return answer;
}

// The peer of RailsAlone.
absl::StatusOr<nlohmann::json> Bare(const Options& options) {
  TD_ASSIGN_OR_RETURN(const double rate, RunBare({.addresses = options.rails,
                                                  .connections = options.connections,
                                                  .block_bytes = options.block_bytes,
                                                  .seconds = options.seconds,
                                                  .crc = options.crc != Checks::kNone,
                                                  .from_bytes = options.from_bytes,
                                                  .into_bytes = options.into_bytes}));
  return nlohmann::json{{"mb_per_s", rate}};
}

// What one end of a session spends on CRC32C at least, by itself: a session with it cannot be
// faster on that core.
absl::StatusOr<nlohmann::json> Crc(const Options& options) {
  const std::vector<std::byte> block(options.block_bytes, std::byte{0x5a});
  uint32_t crc = 0;
  const int64_t begin_ns = absl::GetCurrentTimeNanos();
  for (uint64_t i = 0; i < options.blocks; ++i) crc = dataplane::Crc32cExtend(crc, block);
  const Rate rate{.bytes = options.blocks * options.block_bytes,
                  .ns = absl::GetCurrentTimeNanos() - begin_ns};
  return nlohmann::json{{"mb_per_s", rate.mb_per_s()}, {"crc", crc}};
}

absl::StatusOr<nlohmann::json> MeasureSharing(const Options& options) {
  TD_ASSIGN_OR_RETURN(const SharingRates rates,
                      RunSharing({.store = {.kind = options.store, .members = options.members},
                                  .seconds = options.seconds,
                                  .follow_bytes = options.follow_bytes}));
  return nlohmann::json{{"alone_mb_per_s", rates.alone.rate},
                        {"together_mb_per_s", rates.together},
                        {"recorded_mb_per_s", rates.recorded},
                        {"least_to_most", rates.least_to_most},
                        {"followed_mb_per_s", rates.followed.rate},
                        {"followed_from_memory", rates.followed.from_memory},
                        {"paced_mb_per_s", rates.paced.rate},
                        {"paced_followed_mb_per_s", rates.paced_followed.rate},
                        {"paced_followed_from_memory", rates.paced_followed.from_memory},
                        {"alone_cpu_s_per_gb", rates.alone.cpu_s},
                        {"followed_cpu_s_per_gb", rates.followed.cpu_s}};
}

absl::StatusOr<nlohmann::json> Restarts(const Options& options) {
  const RestartRun run{.directory = options.directory};
  TD_ASSIGN_OR_RETURN(const RestartTimes times, RunRestart(run));
  return nlohmann::json{{"recordings", run.recordings},
                        {"open_blocks", run.open_blocks},
                        {"restart_ms", static_cast<double>(times.restart_ns) / 1e6},
                        {"rebuild_ms", static_cast<double>(times.rebuild_ns) / 1e6}};
}

absl::StatusOr<nlohmann::json> Calls(const Options& options) {
  TD_ASSIGN_OR_RETURN(const auto node, NodeProcess::Start(NodeProgram::kStorage, RailSpecs(options),
                                                          {}, options.tls));
  TD_ASSIGN_OR_RETURN(const double rate,
                      CallsPerSecond(*node, options.callers, absl::Seconds(options.seconds)));
  return nlohmann::json{{"calls_per_s", rate}};
}

absl::StatusOr<nlohmann::json> StoreAlone(const Options& options) {
  if (!options.ceph_conf.empty()) {
    storage_node::store::rados::SetCluster({.conf = options.ceph_conf});
  }
  TD_ASSIGN_OR_RETURN(const StoreRates rates, RunStore({.kind = options.store,
                                                        .members = options.members,
                                                        .blocks = options.blocks,
                                                        .block_bytes = options.block_bytes,
                                                        .slots = options.slots,
                                                        .commit = options.commit,
                                                        .prewritten = options.prewritten}));
  const uint64_t bytes = options.blocks * options.block_bytes;
  const double gb = static_cast<double>(bytes) / 1e9;
  return nlohmann::json{{"write_mb_per_s", Rate{.bytes = bytes, .ns = rates.write_ns}.mb_per_s()},
                        {"read_mb_per_s", Rate{.bytes = bytes, .ns = rates.read_ns}.mb_per_s()},
                        {"write_cpu_s_per_gb", rates.write_cpu_s / gb},
                        {"read_cpu_s_per_gb", rates.read_cpu_s / gb}};
}

int Print(const absl::StatusOr<nlohmann::json>& result) {
  if (!result.ok()) {
    std::fprintf(stderr, "tapedeck-bench: %s\n", std::string(result.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", result->dump().c_str());
  return 0;
}

}  // namespace
}  // namespace tapedeck::bench

int main(int argc, char** argv) {
  using namespace tapedeck::bench;
  tapedeck::services::identity::RefuseOldTls();
  tapedeck::services::RouteGrpcLog();
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  int exit_status = 0;
  const std::optional<Options> options = ParseOptions(argc, argv, &exit_status);
  if (!options.has_value()) return exit_status;
  switch (options->command) {
    case Command::kTransfer:
      return Print(Transfer(*options));
    case Command::kSession:
      return Print(Sessions(*options));
    case Command::kRails:
      return Print(RailsAlone(*options));
    case Command::kBare:
      return Print(Bare(*options));
    case Command::kCrc:
      return Print(Crc(*options));
    case Command::kStore:
      return Print(StoreAlone(*options));
    case Command::kSharing:
      return Print(MeasureSharing(*options));
    case Command::kRestart:
      return Print(Restarts(*options));
    case Command::kCalls:
      return Print(Calls(*options));
    case Command::kNullNode:
      break;
  }
  tapedeck::services::server::BlockShutdownSignals();
  const absl::Status served = ServeNullNode(options->listen, options->rail_specs);
  return served.ok() ? 0 : tapedeck::services::FailedToStart("tapedeck-bench", {served});
}
