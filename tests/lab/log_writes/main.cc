// tapedeck-log-replay: the power cuts that a log of dm-log-writes describes
// (tests/lab/log_writes.sh).
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/command_line/command_line.h"
#include "tests/lab/log_writes/mounted.h"
#include "tests/lab/log_writes/replay.h"
#include "tests/lab/log_writes/shard.h"

namespace tapedeck::lab {
namespace {

struct Options {
  std::string log;
  std::string sources;
  uint64_t block_bytes = 0;
  std::vector<std::string> images;   // as large as the recorded device, sparse, of zeros
  std::vector<std::string> devices;  // loop devices over them
  ReplayOptions replay;
};

std::optional<Options> Parse(int argc, char** argv, int* exit_status) {
  Options options;
  ReplayOptions& replay = options.replay;
  services::command_line::CommandLine line(
      {.name = "tapedeck-log-replay",
       .purpose =
           "Cuts the power after each entry of a log of dm-log-writes and looks at what is left.",
       .usage_error = std::nullopt});
  const services::command_line::Command replayer = line.program();
  replayer.AddOption("--log", options.log, "The log").Required();
  replayer.AddOption("--sources", options.sources, "Directory of the files recorded").Required();
  replayer.AddOption("--block-bytes", options.block_bytes, "Of the channels").Required();
  replayer
      .AddOption("--image", options.images,
                 "File of the recorded device's size, sparse; repeat to work in parallel")
      .Required();
  replayer.AddOption("--device", options.devices, "Loop device over the image, for each")
      .Required();
  replayer.AddOption("--fs", replay.file_system, "File system on it; default none");
  replayer
      .AddOption("--mount", replay.mount, "Where to mount it; a file if there is no file system")
      .Required();
  replayer.AddOption("--state", replay.state, "State directory of the storage node").Required();
  replayer.AddOption("--state-from", replay.state_from,
                     "What it holds, if it is not on the device");
  replayer.AddOption("--prefixes", replay.prefixes, "How many to look at; default all");
  replayer.AddOption("--losses", replay.losses, "For each, states that lost some unforced writes");
  replayer.AddOption("--seed", replay.seed, "Of both choices");
  replayer.AddOption("--only", replay.only, "The prefix of this length alone");
  if (const std::optional<int> ended = line.Parse(argc, argv); ended.has_value()) {
    *exit_status = *ended;
    return std::nullopt;
  }
  if (options.images.size() == options.devices.size()) return options;
  std::fputs("tapedeck-log-replay: as many --image as --device, please\n", stderr);
  *exit_status = 2;
  return std::nullopt;
}

absl::StatusOr<ReplayCounts> RunShard(const Options& options, const WriteLog& log,
                                      const Sources& sources, uint64_t shard) {
  TD_RETURN_IF_ERROR(MountPrivately());
  ReplayOptions replay = options.replay;
  replay.device = options.devices[shard];
  replay.shard = shard;
  replay.shards = options.devices.size();
  if (!replay.state_from.empty()) absl::StrAppend(&replay.state, "-", shard);
  TD_ASSIGN_OR_RETURN(const auto device, CrashDevice::Create(options.images[shard], replay.device));
  return Replay(replay, log, sources, *device).Run();
}

absl::StatusOr<ReplayCounts> Run(const Options& options) {
  TD_ASSIGN_OR_RETURN(const auto log, WriteLog::Open(options.log));
  TD_ASSIGN_OR_RETURN(const Sources sources, Sources::Load(options.sources, options.block_bytes));
  std::vector<Shard> shards;
  for (uint64_t number = 0; number < options.devices.size(); ++number) {
    TD_ASSIGN_OR_RETURN(const Shard shard,
                        Shard::Start([&] { return RunShard(options, *log, sources, number); }));
    shards.push_back(shard);
  }
  std::optional<ReplayCounts> sum;
  for (const Shard& shard : shards) {
    TD_ASSIGN_OR_RETURN(const ReplayCounts counts, shard.Wait());
    if (sum.has_value()) {
      sum->Add(counts);
    } else {
      sum = counts;
    }
  }
  return *sum;
}

int Print(const ReplayCounts& counts, double seconds) {
  const std::string text = absl::StrCat(
      counts.entries, " entries, ", counts.flushes, " flushes, ", counts.marks, " marks; ",
      counts.prefixes, " of ", counts.candidates, " prefixes and ", counts.losses,
      " losses replayed; ", counts.blocks, " blocks promised (", counts.survivors.promised,
      " looked for), ", counts.survivors.lost, " lost, ", counts.survivors.wrong, " wrong");
  std::printf("%s; %.1f a second\n", text.c_str(),
              static_cast<double>(counts.prefixes + counts.losses) / seconds);
  return counts.survivors.lost + counts.survivors.wrong > 0 ? 1 : 0;
}

}  // namespace
}  // namespace tapedeck::lab

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  int exit_status = 0;
  const auto options = tapedeck::lab::Parse(argc, argv, &exit_status);
  if (!options.has_value()) return exit_status;
  const absl::Time begin = tapedeck::dataplane::SteadyTime();
  const auto counts = tapedeck::lab::Run(*options);
  if (counts.ok())
    return tapedeck::lab::Print(*counts,
                                absl::ToDoubleSeconds(tapedeck::dataplane::SteadyTime() - begin));
  std::fprintf(stderr, "tapedeck-log-replay: %s\n", counts.status().ToString().c_str());
  return 2;
}
