// tapedeck-log-replay: the power cuts that a log of dm-log-writes describes
// (tests/lab/log_writes.sh).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "dataplane/status_macros.h"
#include "tests/lab/log_writes/replay.h"

namespace tapedeck::lab {
namespace {

std::optional<ReplayOptions> Parse(int argc, char** argv, int* exit_status) {
  ReplayOptions options;
  CLI::App app(
      "Cuts the power after each entry of a log of dm-log-writes and looks at what is left.",
      "tapedeck-log-replay");
  app.add_option("--log", options.log, "The log")->required();
  app.add_option("--image", options.image, "File of the recorded device's size, sparse")
      ->required();
  app.add_option("--device", options.device, "Loop device over it")->required();
  app.add_option("--fs", options.file_system, "File system on it; default none");
  app.add_option("--mount", options.mount, "Where to mount it");
  app.add_option("--state", options.state, "State directory of the storage node")->required();
  app.add_option("--state-from", options.state_from, "What it holds, if it is not on the device");
  app.add_option("--sources", options.sources, "Directory of the files recorded")->required();
  app.add_option("--block-bytes", options.block_bytes, "Of the channels")->required();
  app.add_option("--prefixes", options.prefixes, "How many to look at; default all");
  app.add_option("--losses", options.losses, "For each, states that lost some unforced writes");
  app.add_option("--seed", options.seed, "Of both choices");
  app.add_option("--only", options.only, "The prefix of this length alone");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_status = app.exit(error);
    return std::nullopt;
  }
  return options;
}

absl::StatusOr<ReplayCounts> Run(const ReplayOptions& options) {
  TD_ASSIGN_OR_RETURN(const auto log, WriteLog::Open(options.log));
  TD_ASSIGN_OR_RETURN(const Sources sources, Sources::Load(options.sources, options.block_bytes));
  TD_ASSIGN_OR_RETURN(const auto device, CrashDevice::Create(options.image, options.device));
  return Replay(options, *log, sources, *device).Run();
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
  const absl::Time begin = absl::Now();
  const auto counts = tapedeck::lab::Run(*options);
  if (counts.ok()) return tapedeck::lab::Print(*counts, absl::ToDoubleSeconds(absl::Now() - begin));
  std::fprintf(stderr, "tapedeck-log-replay: %s\n", counts.status().ToString().c_str());
  return 2;
}
