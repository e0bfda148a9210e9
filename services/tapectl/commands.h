// The commands of tapectl. Each function adds its noun to the command line; the command that is
// given sets program.run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "services/command_line/command_line.h"
#include "services/tapectl/program.h"

namespace tapedeck::services::tapectl {

using command_line::Command;
using command_line::Option;

void AddLunCommands(Command tapectl, Program& program);
void AddChannelCommands(Command tapectl, Program& program);
void AddRecordingsCommands(Command tapectl, Program& program);
void AddRecorderCommands(Command tapectl, Program& program);
void AddScrubCommands(Command tapectl, Program& program);
void AddTransferCommands(Command tapectl, Program& program);
void AddJobsCommands(Command tapectl, Program& program);
void AddExplainCommand(Command tapectl, Program& program);
void AddNodesCommand(Command tapectl, Program& program);
void AddTraceCommand(Command tapectl, Program& program);
void AddDoctorCommand(Command tapectl, Program& program);

// Of a command that names one thing.
struct NameOptions {
  std::string name;
};

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
