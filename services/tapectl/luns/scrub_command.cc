#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/damage_kind.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/terminal/interrupt.h"
#include "services/tapectl/terminal/progress.h"

namespace tapedeck::services::tapectl {
namespace {

// A scrub is asked how far it is, not watched: it lasts for hours, and a watch would look at it as
// often, on the node, for every terminal that waits.
constexpr absl::Duration kPollPeriod = absl::Milliseconds(200);

// What an interrupt says, which ends the wait at once.
constexpr char kScrubInterrupted[] =
    "\ntapectl: interrupted; a started scrub keeps running: tapectl scrub show, tapectl scrub stop";

struct ScrubOptions {
  std::string name;
  uint64_t rate_bytes_per_s = 0;
  bool restart = false;
  bool detach = false;
};

// LUN, LUN/CHANNEL or a full name of either.
absl::StatusOr<std::string> ParentOf(const std::string& text) {
  const auto slashes = std::count(text.begin(), text.end(), '/');
  const bool is_lun = slashes == 0 || (slashes == 1 && text.starts_with("luns/"));
  return is_lun ? LunNameOf(text) : ChannelNameOf(text);
}

// What is damaged still.
absl::Status Verdict(const Scrub& scrub, const std::string& line) {
  if (!scrub.cause.empty()) return absl::InternalError(scrub.cause);
  if (scrub.damaged == scrub.repaired) return absl::OkStatus();
  const auto finding = std::ranges::find(scrub.findings, false, &ScrubFinding::repaired);
  return BlockDamaged(
      {.recording = finding == scrub.findings.end() ? scrub.recording : finding->recording,
       .blocks = scrub.damaged - scrub.repaired},
      line);
}

absl::Status ConcludeScrub(Program& program, const Scrub& scrub) {
  const Answer answer = AnswerOf(scrub);
  std::vector<Row> rows;
  for (const ScrubFinding& finding : scrub.findings) {
    const services::DamageKind kind = finding.block.kind;
    rows.push_back(
        {finding.recording, model::IsOfBlock(kind) ? absl::StrCat(finding.block.sequence) : "-",
         std::string(model::NameOf(kind)), finding.repaired ? "yes" : "no", finding.block.detail});
  }
  const std::string line =
      absl::StrCat(ShortName(scrub.parent), " ", model::NameOf(scrub.state), ": ", scrub.blocks,
                   " blocks of ", scrub.recordings, " recordings read, ", scrub.damaged,
                   " damaged, ", scrub.repaired, " repaired");
  const absl::Status verdict = Verdict(scrub, line);
  if (!program.json() && !rows.empty()) {
    program.Print(answer, {"RECORDING", "BLOCK", "DAMAGE", "REPAIRED", "DETAIL"}, rows);
  }
  // A failure says it again, on stderr.
  if (program.json() || rows.empty() || verdict.ok()) program.Print(answer, line);
  program.failure_printed = program.json();
  return verdict;
}

// What a scrub reads from its first recording on. One that continues reads less.
struct ToRead {
  uint64_t blocks = 0;
  uint64_t bytes = 0;
};

// Nothing, if the recordings are not this caller's to see.
ToRead ToReadOf(const Program& program, const std::string& parent) {
  const bool lun = parent.find("/channels/") == parent.npos;
  const auto all =
      program.Catalog()->ListRecordings(lun ? absl::StrCat(parent, "/channels/-") : parent);
  ToRead sum;
  if (!all.ok()) return sum;
  for (const Recording& one : *all) {
    sum.blocks += one.blocks - std::min(one.missing_blocks, one.blocks);
    sum.bytes += one.bytes;
  }
  return sum;
}

ProgressNow ProgressOf(const Scrub& scrub, const ToRead& all, absl::Duration elapsed) {
  const double seconds = absl::ToDoubleSeconds(elapsed);
  if (all.blocks == 0) return {.blocks = scrub.blocks, .elapsed_s = seconds};
  const double part = static_cast<double>(scrub.blocks) / static_cast<double>(all.blocks);
  return {.fraction = part,
          .blocks = scrub.blocks,
          .all_blocks = all.blocks,
          .mb_per_s = part * static_cast<double>(all.bytes) / 1e6 / seconds,
          .elapsed_s = seconds};
}

absl::StatusOr<Scrub> FollowScrub(const Program& program, client::RecorderClient& recorder,
                                  Scrub scrub) {
  const ToRead all = ToReadOf(program, scrub.parent);
  const absl::Time begin = dataplane::SteadyTime();
  ProgressBar bar("scrub");
  while (scrub.state == ScrubState::kRunning) {
    absl::SleepFor(kPollPeriod);
    TD_ASSIGN_OR_RETURN(scrub, recorder.GetScrub(scrub.parent));
    bar.Show(ProgressOf(scrub, all, dataplane::SteadyTime() - begin));
  }
  return scrub;
}

absl::Status StartScrub(Program& program, const ScrubOptions& options) {
  const InterruptWatch interrupt(kScrubInterrupted);
  TD_ASSIGN_OR_RETURN(const std::string parent, ParentOf(options.name));
  const auto recorder = program.Recorder();
  TD_ASSIGN_OR_RETURN(Scrub scrub,
                      recorder->StartScrub({.parent = parent,
                                            .rate_bytes_per_s = options.rate_bytes_per_s,
                                            .restart = options.restart}));
  if (!options.detach) {
    TD_ASSIGN_OR_RETURN(scrub, FollowScrub(program, *recorder, scrub));
  }
  return ConcludeScrub(program, scrub);
}

absl::Status ShowScrub(Program& program, const ScrubOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string parent, ParentOf(options.name));
  TD_ASSIGN_OR_RETURN(const Scrub scrub, program.Recorder()->GetScrub(parent));
  return ConcludeScrub(program, scrub);
}

absl::Status StopScrub(Program& program, const ScrubOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string parent, ParentOf(options.name));
  TD_ASSIGN_OR_RETURN(const Scrub scrub, program.Recorder()->StopScrub(parent));
  return ConcludeScrub(program, scrub);
}

}  // namespace

void AddScrubCommands(Command tapectl, Program& program) {
  const Command scrub = tapectl.AddCommand(
      "scrub",
      "Check stored recordings slowly, report damage and rewrite damaged copies of indexes");
  const auto add = [&](const std::string& verb, const std::string& help, auto run) {
    auto options = std::make_shared<ScrubOptions>();
    const Command command = scrub.AddCommand(verb, help);
    command.AddOption("NAME", options->name, "LUN or LUN/CHANNEL").Required();
    SetRun<ScrubOptions>(command, program, "scrub " + verb, options, run);
    return std::pair(command, options);
  };
  const auto [start, options] =
      add("start", "Continue where the last scrub stopped, to the end", StartScrub);
  start.AddParsed("--rate", options->rate_bytes_per_s, ParseBytes,
                  "Bytes per second; default 100MB");
  start.AddFlag("--restart", options->restart, "Start at the first recording");
  start.AddFlag("--detach", options->detach, "Start the scrub and return");
  add("show", "Show its progress", ShowScrub);
  add("stop", "Stop it; the next start continues there", StopScrub);
}

}  // namespace tapedeck::services::tapectl
