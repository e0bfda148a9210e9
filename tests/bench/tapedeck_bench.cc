// tapedeck-bench: Tapedeck's side of tests/bench/*.sh. Starts a storage node of its own and drives
// it with the product's own session code.
//   tapedeck-bench transfer --rails 127.0.0.1,127.0.0.2 --seconds 4 --block-bytes 1MiB --json
//   tapedeck-bench session --sessions 50 --json

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/grpc_log.h"
#include "tests/bench/node_process.h"
#include "tests/bench/session_run.h"

namespace tapedeck::bench {
namespace {

using services::session::Direction;

struct Options {
  std::vector<std::string> rails = {"127.0.0.1", "127.0.0.2"};
  double seconds = 4;
  uint64_t block_bytes = 1 << 20;
  uint64_t lun_bytes = 2ull << 30;
  uint32_t slots = 64;
  int sessions = 50;
  bool json = false;
};

// The worker's side: rails and a session thread.
struct Worker {
  std::unique_ptr<dataplane::RailSet> rails;
  std::unique_ptr<dataplane::EventLoop> loop;
};

absl::StatusOr<Worker> MakeWorker(const Options& options) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < options.rails.size(); ++i) {
    texts.push_back(absl::StrCat("r", i, "=tcp:", options.rails[i]));
  }
  Worker worker;
  TD_ASSIGN_OR_RETURN(worker.rails, dataplane::RailSet::Create(texts, false));
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
  TD_ASSIGN_OR_RETURN(const auto node, NodeProcess::Start(options.rails));
  TD_RETURN_IF_ERROR(node->MakeChannel("bench", options.lun_bytes, options.block_bytes));
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
                   .slots = options.slots};
    TD_ASSIGN_OR_RETURN(const SessionOutcome recorded,
                        RunSession(run, node->channel(), *worker.rails, *worker.loop));
    record.Add(recorded.snapshot);
    run.direction = Direction::kPlayback;
    run.target = recorded.snapshot.accept.recording;
    TD_ASSIGN_OR_RETURN(const SessionOutcome played,
                        RunSession(run, node->channel(), *worker.rails, *worker.loop));
    play.Add(played.snapshot);
    crc_errors += recorded.snapshot.crc_errors + played.snapshot.crc_errors;
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
  TD_ASSIGN_OR_RETURN(const auto node, NodeProcess::Start(options.rails));
  TD_RETURN_IF_ERROR(node->MakeChannel("bench", 512 << 20, options.block_bytes));
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
    const services::client::Channel channel =
        services::client::MakeChannel(node->channel().address);
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
  tapedeck::services::RouteGrpcLog();
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  tapedeck::bench::Options options;
  CLI::App app("Measures Tapedeck on this machine; tests/bench compares it with its peers.",
               "tapedeck-bench");
  app.require_subcommand(1);
  CLI::App* transfer = app.add_subcommand("transfer", "Record to and play from a memory LUN");
  transfer->add_option("--seconds", options.seconds, "Time to move blocks, both ways together");
  transfer->add_option("--lun-bytes", options.lun_bytes, "Size of the memory LUN")
      ->transform(CLI::AsSizeValue(false));
  transfer->add_option("--slots", options.slots, "Slots of the ring");
  CLI::App* session =
      app.add_subcommand("session", "Time from opening a session to its first block");
  session->add_option("--sessions", options.sessions, "How many");
  for (CLI::App* command : {transfer, session}) {
    command->add_option("--rails", options.rails, "Addresses, one for each rail")->delimiter(',');
    command->add_option("--block-bytes", options.block_bytes, "Bytes per block")
        ->transform(CLI::AsSizeValue(false));
    command->add_flag("--json", options.json,
                      "Kept for scripts: the result is always one line of JSON");
  }
  CLI11_PARSE(app, argc, argv);
  return tapedeck::bench::Print(*transfer ? tapedeck::bench::Transfer(options)
                                          : tapedeck::bench::Sessions(options));
}
