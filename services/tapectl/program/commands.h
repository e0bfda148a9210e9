// The commands of tapectl. Each function adds its noun to the command line; the command that is
// given sets program.run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/base/command_line/command_line.h"
#include "services/site/streams.h"
#include "services/tapectl/program/program.h"
#include "services/tapectl/program/sample_range.h"

namespace tapedeck::services::tapectl {

using command_line::Command;
using command_line::Option;

void AddLunCommands(Command tapectl, Program& program);
void AddChannelCommands(Command tapectl, Program& program);
void AddRecordingsCommands(Command tapectl, Program& program);
// Of the command `recordings`.
void AddExportCommand(Command recordings, Program& program);
void AddImportCommand(Command recordings, Program& program);
// With raw and standard output or input, for the commands whose `-` is that.
absl::Status ExportToPipe(Program& program, const RecordingChoice& choice,
                          const SampleRange& samples);
absl::Status ImportFromPipe(Program& program, const std::string& channel);
void AddCopyCommands(Command recordings, Program& program);
void AddDeleteCommand(Command recordings, Program& program);
void AddRecorderCommands(Command tapectl, Program& program);
void AddScrubCommands(Command tapectl, Program& program);
void AddRepairCommand(Command tapectl, Program& program);
void AddVerifyCommand(Command recordings, Program& program);
void AddMountCommand(Command tapectl, Program& program);
void AddTransferCommands(Command tapectl, Program& program);
void AddReceiveCommand(Command tapectl, Program& program);
void AddJobsCommands(Command tapectl, Program& program);
void AddExplainCommand(Command tapectl, Program& program);
void AddNodesCommand(Command tapectl, Program& program);
void AddTraceCommand(Command tapectl, Program& program);
void AddProfilesCommand(Command tapectl, Program& program);
void AddWatchCommand(Command tapectl, Program& program);
void AddTopCommand(Command tapectl, Program& program);
void AddDoctorCommand(Command tapectl, Program& program);
void AddViewCommand(Command tapectl, Program& program);
void AddKindsCommand(Command tapectl, Program& program);

// In the order in which the help shows them.
inline constexpr void (*kCommands[])(Command, Program&) = {
    AddLunCommands,        AddChannelCommands, AddTransferCommands, AddReceiveCommand,
    AddRecordingsCommands, AddRepairCommand,   AddMountCommand,     AddRecorderCommands,
    AddScrubCommands,      AddJobsCommands,    AddExplainCommand,   AddNodesCommand,
    AddWatchCommand,       AddTopCommand,      AddTraceCommand,     AddDoctorCommand,
    AddViewCommand,        AddKindsCommand,    AddProfilesCommand};

// `completion`: of the line that LineToComplete has found.
void AddCompletionCommand(Command tapectl, Program& program,
                          const command_line::Completion& completion);
// The words of `tapectl completion words WORD...`; none: the line is another one.
std::optional<std::vector<std::string>> LineToComplete(int argc, char** argv);

// `line` is the whole program.
void AddManualCommand(Command tapectl, Program& program, const command_line::CommandLine& line);

// `help` and `version`; gives the commands of `line` their examples. After all others.
void AddHelpCommands(Command tapectl, Program& program, const command_line::CommandLine& line);

// Of a command that names one thing.
struct NameOptions {
  std::string name;
};

inline constexpr char kWhichRecording[] = "ID, LUN/CHANNEL/ID, LUN/CHANNEL/latest or the full name";

// Of commands that take several nodes.
inline constexpr char kWhichRecordingOfNodes[] =
    "ID, LUN/CHANNEL/ID, LUN/CHANNEL/latest or the full name; NODE/ before it picks one of several "
    "nodes of --storage";

// The name, as `help` says, and --segment.
void AddRecordingChoice(Command command, RecordingChoice& choice,
                        const std::string& help = kWhichRecordingOfNodes);
void AddSegmentChoice(Command command, RecordingChoice& choice);

// The command's options live in `*options`; `run` gets both.
template <typename Options>
void SetRun(Command command, Program& program, const std::string& what,
            std::shared_ptr<Options> options,
            std::function<absl::Status(Program&, const Options&)> run) {
  command.WhenGiven([&program, what, options, run = std::move(run)] {
    program.what = what;
    program.run = [options, run](Program& self) { return run(self, *options); };
  });
}

}  // namespace tapedeck::services::tapectl
