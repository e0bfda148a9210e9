#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/repair.h"
#include "services/model/recording/part.h"
#include "services/site/names.h"
#include "services/site/several_nodes.h"
#include "services/site/units.h"
#include "services/tapectl/copies/patience.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr char kNoRepair[] = "interrupted; run the same command again to continue the repair";

// More are counted.
constexpr size_t kMaxRanges = 12;

struct RepairOptions {
  std::string name;
  uint64_t bytes_per_s = 0;
  bool only_look = false;
  bool leave_gaps = false;
};

// The name of the whole, by whatever part there is: a copy that a repair has not finished yet may
// have another one.
absl::StatusOr<std::string> WholeNamed(const Program& program, const std::string& text) {
  std::optional<Recording> newest;
  absl::Status first_error;
  for (const Program& node : EachNode(program)) {
    const auto catalog = node.Catalog();
    const auto name = RecordingNameOf(text, *catalog);
    const auto found =
        name.ok() ? catalog->GetRecording(*name) : absl::StatusOr<Recording>(name.status());
    first_error.Update(found.status());
    if (!found.ok()) continue;
    if (!found->stream.empty()) {
      TD_RETURN_IF_ERROR(model::CheckTakes(model::Use::kRepair, model::Kind::kSegment, text));
    }
    const bool part = found->part.has_value();
    if (part && (!newest.has_value() || found->open_time_ns > newest->open_time_ns)) {
      newest = *found;
    }
  }
  if (newest.has_value()) return newest->name;
  TD_RETURN_IF_ERROR(first_error);
  return ArgumentInvalid("recording", absl::StrCat(text, " is not a recording in parts"));
}

std::string TextOf(const copying::BlockSet& blocks) {
  std::vector<std::string> ranges;
  for (const auto& [first, end] : blocks.ranges()) {
    if (ranges.size() == kMaxRanges) {
      ranges.emplace_back("...");
      break;
    }
    ranges.push_back(end == first + 1 ? absl::StrCat(first) : absl::StrCat(first, "-", end - 1));
  }
  return absl::StrJoin(ranges, ", ");
}

std::string WordOf(copying::PartFinding finding) {
  switch (finding) {
    case copying::PartFinding::kWhole:
      return "whole";
    case copying::PartFinding::kDamaged:
      return "damaged";
    case copying::PartFinding::kAbsent:
      break;
  }
  return "absent";
}

RepairAnswer::Part PartOf(const copying::RepairedPart& part) {
  copying::BlockSet bad = part.damaged;
  bad.Add(part.lacking);
  return {.node = part.node,
          .found = WordOf(part.finding),
          .damaged_blocks = part.damaged.size(),
          .lacking_blocks = part.lacking.size(),
          .blocks = TextOf(bad),
          .repaired = part.repaired,
          .why_not = part.why_not};
}

// Not whole in the end, by what was asked for.
absl::Status VerdictOf(const RepairAnswer& answer, const copying::Repaired& repaired) {
  const auto is_bad = [](const RepairAnswer::Part& part) {
    return part.found != "whole" && !part.repaired;
  };
  const auto bad = std::ranges::count_if(answer.parts, is_bad);
  if (bad == 0) return absl::OkStatus();
  std::string text = absl::StrCat(answer.recording, ": ", bad, " of 2 parts are not whole");
  if (answer.lost_blocks > 0) {
    absl::StrAppend(&text, "; no part has blocks ", TextOf(repaired.lost), " whole");
  }
  return BlockDamaged({.recording = answer.recording, .blocks = answer.lost_blocks}, text);
}

void PrintParts(const Program& program, const RepairAnswer& answer) {
  std::vector<Row> rows;
  for (const RepairAnswer::Part& part : answer.parts) {
    const std::string done = part.repaired ? "made whole" : part.why_not;
    rows.push_back({part.node, part.found, absl::StrCat(part.damaged_blocks),
                    absl::StrCat(part.lacking_blocks), part.blocks, done.empty() ? "-" : done});
  }
  program.Print(AnswerOf(answer), {"NODE", "FOUND", "DAMAGED", "LACKING", "BLOCKS", "REPAIR"},
                rows);
}

absl::Status RunRepair(Program& program, const RepairOptions& options) {
  const std::vector<Program> nodes = EachNode(program);
  if (nodes.size() != 2) {
    return ArgumentInvalid("storage", "repair needs two nodes: --storage HOST:PORT,HOST:PORT");
  }
  InterruptWatch interrupt(kNoRepair);
  copying::RepairRequest request{.bytes_per_s = options.bytes_per_s,
                                 .timeout = program.job_timeout(),
                                 .state = program.state,
                                 .only_look = options.only_look,
                                 .leave_gaps = options.leave_gaps};
  TD_ASSIGN_OR_RETURN(request.name, WholeNamed(program, options.name));
  std::vector<std::unique_ptr<client::CatalogClient>> catalogs;
  std::vector<std::unique_ptr<client::RecorderClient>> recorders;
  for (size_t i = 0; i < 2; ++i) {
    catalogs.push_back(nodes[i].Catalog());
    recorders.push_back(nodes[i].Recorder());
    TD_ASSIGN_OR_RETURN(request.nodes[i].peer, StoragePeer(nodes[i]));
    request.nodes[i].catalog = catalogs.back().get();
    request.nodes[i].recorder = recorders.back().get();
  }
  std::optional<Patience> patience;
  std::string step_before;
  request.progress = [&](const std::string& step, uint64_t bytes, uint64_t all) {
    if (step != std::exchange(step_before, step)) patience.reset();
    if (!patience.has_value()) patience.emplace(program, interrupt, step, all);
    return patience->Show(bytes);
  };
  const absl::StatusOr<copying::Repaired> repaired = copying::Repair(request);
  TD_RETURN_IF_ERROR(
      WithWayOn(patience.has_value() ? patience->Judged(repaired.status()) : repaired.status(),
                "the repair"));
  RepairAnswer answer{.recording = repaired->recording,
                      .blocks = repaired->blocks,
                      .lost_blocks = repaired->lost.size()};
  for (const copying::RepairedPart& part : repaired->parts) answer.parts.push_back(PartOf(part));
  answer.status = VerdictOf(answer, *repaired);
  program.failure_printed = true;
  PrintParts(program, answer);
  return answer.status;
}

}  // namespace

void AddRepairCommand(Command tapectl, Program& program) {
  auto options = std::make_shared<RepairOptions>();
  const Command command =
      tapectl.AddCommand("repair",
                         "Repair both parts of a recording that two nodes of --storage hold with "
                         "two copies of each block; run it again to continue");
  command.AddOption("RECORDING", options->name, kWhichRecording).Required();
  command.AddParsed("--pace", options->bytes_per_s, ParseBytes,
                    "Limit in bytes per second, e.g. 200MB; default unlimited");
  command.AddFlag("--look", options->only_look, "Only report the damage; change nothing");
  command.AddFlag("--leave-gaps", options->leave_gaps,
                  "Repair even if a block is whole on neither node; it is missing then, its intact "
                  "bytes included");
  SetRun<RepairOptions>(command, program, "repair", options, RunRepair);
}

}  // namespace tapedeck::services::tapectl
