#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/field_options.h"
#include "services/tapectl/names.h"
#include "services/tapectl/progress.h"
#include "services/tapectl/units.h"

namespace tapedeck::services::tapectl {
namespace {

// More are counted, and all of them are in the JSON.
constexpr size_t kMaxDamagedRows = 20;

absl::Status ListRecordings(Program& program, const NameOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string parent,
                      options.name.empty() ? "luns/-/channels/-" : ChannelNameOf(options.name));
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> recordings, catalog->ListRecordings(parent));
  std::vector<Row> rows;
  for (const Recording& recording : recordings) {
    rows.push_back({recording.name, std::string(model::NameOf(recording.state)),
                    absl::StrCat(recording.blocks), FormatBytes(recording.bytes),
                    absl::StrCat(recording.missing_blocks), FormatTime(recording.start_time_ns)});
  }
  program.Print(AnswerOf(recordings), {"NAME", "STATE", "BLOCKS", "SIZE", "MISSING", "START"},
                rows);
  return absl::OkStatus();
}

absl::Status ShowRecording(Program& program, const NameOptions& options) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::string name, RecordingNameOf(options.name, *catalog));
  TD_ASSIGN_OR_RETURN(const Recording recording, catalog->GetRecording(name));
  program.Print(AnswerOf(recording), {"FIELD", "VALUE"}, FieldsOf(recording));
  return absl::OkStatus();
}

struct RecordingOptions {
  std::string name;
  RecordingUpdate fields;
};

absl::Status UpdateRecording(Program& program, const RecordingOptions& options) {
  RecordingUpdate update = options.fields;
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(update.name, RecordingNameOf(options.name, *catalog));
  TD_ASSIGN_OR_RETURN(const Recording updated, catalog->UpdateRecording(update));
  program.Print(AnswerOf(updated), absl::StrCat("changed ", updated.name));
  return absl::OkStatus();
}

absl::Status DeleteRecording(Program& program, const NameOptions& options) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::string name, RecordingNameOf(options.name, *catalog));
  TD_RETURN_IF_ERROR(catalog->DeleteRecording(name));
  program.Print(AnswerOf("deleted", name), absl::StrCat("deleted ", name));
  return absl::OkStatus();
}

// Known never to have been stored: a gap, no damage.
bool IsMissing(const DamagedBlock& block) { return block.kind == services::DamageKind::kMissing; }

void PrintVerdict(const Program& program, const Verification& verification) {
  const Answer answer = AnswerOf(verification);
  const VerifyProgress& verified = verification.found;
  if (verified.damaged.empty()) {
    program.Print(answer, absl::StrCat("verified ", verification.recording, ": ",
                                       verified.checked_blocks, " blocks, none damaged"));
    return;
  }
  std::vector<Row> rows;
  for (const DamagedBlock& block : verified.damaged) {
    if (rows.size() == kMaxDamagedRows) break;
    rows.push_back(
        {absl::StrCat(block.sequence), std::string(model::NameOf(block.kind)), block.detail});
  }
  program.Print(answer, {"BLOCK", "DAMAGE", "DETAIL"}, rows);
}

absl::Status VerifyRecording(Program& program, const NameOptions& options) {
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const std::string name, RecordingNameOf(options.name, *catalog));
  VerifyProgress total;
  absl::Status status;
  {
    ProgressBar bar("verify");
    const absl::Time start = dataplane::SteadyTime();
    status =
        catalog->VerifyRecording(name, program.job_timeout(), [&](const VerifyProgress& progress) {
          total.checked_blocks = progress.checked_blocks;
          total.blocks = progress.blocks;
          total.damaged.insert(total.damaged.end(), progress.damaged.begin(),
                               progress.damaged.end());
          const double all = static_cast<double>(std::max<uint64_t>(progress.blocks, 1));
          bar.Show({.fraction = static_cast<double>(progress.checked_blocks) / all,
                    .blocks = progress.checked_blocks,
                    .elapsed_s = absl::ToDoubleSeconds(dataplane::SteadyTime() - start)});
        });
  }
  const auto missing = std::count_if(total.damaged.begin(), total.damaged.end(), IsMissing);
  const size_t damaged = total.damaged.size() - missing;
  if (status.ok() && damaged > 0) {
    status = BlockDamaged({.recording = name, .blocks = damaged},
                          absl::StrCat(name, ": ", damaged, " of ", total.blocks,
                                       " blocks are damaged; the rest plays"));
  }
  if (total.blocks == 0 && !status.ok()) return status;
  program.failure_printed = true;
  PrintVerdict(program, {.recording = name,
                         .found = std::move(total),
                         .missing_blocks = static_cast<uint64_t>(missing),
                         .status = status});
  return status;
}

}  // namespace

void AddRecordingsCommands(Command tapectl, Program& program) {
  const Command recordings = tapectl.AddCommand("recordings", "What the storage node holds");

  auto list_options = std::make_shared<NameOptions>();
  const Command list = recordings.AddCommand("list", "Show recordings, newest first");
  list.AddOption("CHANNEL", list_options->name, "LUN/CHANNEL: of this channel only");
  SetRun<NameOptions>(list, program, "recordings list", list_options, ListRecordings);

  constexpr char kWhich[] = "ID, LUN/CHANNEL/ID, LUN/CHANNEL/latest or the full name";
  auto update_options = std::make_shared<RecordingOptions>();
  const Command update =
      recordings.AddCommand("update", "Change what is noted about a recording, running or closed");
  update.AddOption("RECORDING", update_options->name, kWhich).Required();
  AddFieldOptions(update, Purpose::kUpdate, update_options->fields);
  SetRun<RecordingOptions>(update, program, "recordings update", update_options, UpdateRecording);

  const auto add = [&](const std::string& verb, const std::string& help, auto run) {
    auto options = std::make_shared<NameOptions>();
    const Command command = recordings.AddCommand(verb, help);
    command.AddOption("RECORDING", options->name, kWhich).Required();
    SetRun<NameOptions>(command, program, "recordings " + verb, options, run);
  };
  add("show", "Show all about a recording", ShowRecording);
  add("verify", "Read every block and check it", VerifyRecording);
  add("delete", "Delete a recording", DeleteRecording);
}

}  // namespace tapedeck::services::tapectl
