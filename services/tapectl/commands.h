// The commands of tapectl. Each function adds its noun to the command line; the command that is
// given sets program.run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "services/tapectl/program.h"

namespace tapedeck::services::tapectl {

void AddLunCommands(CLI::App& app, Program& program);
void AddChannelCommands(CLI::App& app, Program& program);
void AddRecordingsCommands(CLI::App& app, Program& program);
void AddRecorderCommands(CLI::App& app, Program& program);
void AddScrubCommands(CLI::App& app, Program& program);
void AddTransferCommands(CLI::App& app, Program& program);
void AddJobsCommands(CLI::App& app, Program& program);
void AddNodesCommand(CLI::App& app, Program& program);

// Adds a command whose options live in `*options`; `run` gets both.
template <typename Options>
void SetRun(CLI::App* command, Program& program, const std::string& what,
            std::shared_ptr<Options> options,
            std::function<absl::Status(Program&, const Options&)> run) {
  command->callback([&program, what, options, run = std::move(run)] {
    program.what = what;
    program.run = [options, run](Program& self) { return run(self, *options); };
  });
}

// An option whose text `parse` turns into `target`, or into a usage error.
template <typename T, typename Parse>
CLI::Option* AddParsed(CLI::App* command, const std::string& name, T& target, Parse parse,
                       const std::string& help) {
  return command->add_option_function<std::string>(
      name,
      [name, &target, parse](const std::string& text) {
        const auto value = parse(text);
        if (!value.ok()) {
          throw CLI::ValidationError(name, std::string(value.status().message()));
        }
        target = *value;
      },
      help);
}

}  // namespace tapedeck::services::tapectl
