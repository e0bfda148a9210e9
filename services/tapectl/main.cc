// tapectl: the command line of Tapedeck.
#include <iostream>

#include "services/grpc_log.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/failure.h"
#include "services/tapectl/units.h"
#include "services/version.h"

namespace tapedeck::services::tapectl {
namespace {

void AddGlobalOptions(Command tapectl, Program& program) {
  tapectl.AddOption("--storage", program.storage, "HOST:PORT of the storage node")
      .FromEnvironment("TAPEDECK_STORAGE")
      .ShowDefault();
  tapectl.AddOption("--worker", program.worker, "HOST:PORT of the GPU worker")
      .FromEnvironment("TAPEDECK_WORKER")
      .ShowDefault();
  tapectl.AddOption("--output", program.output, "table or json")
      .OneOf({"table", "json"})
      .ShowDefault();
  tapectl
      .AddOption("--timeout", program.timeout,
                 "Longest time for a call, e.g. 30s (default 60s), or for a whole record, play or "
                 "verify (default none)")
      .Check([](const std::string& text) { return ParseDurationNs(text).status(); });
}

int Conclude(const Program& program, const absl::Status& status) {
  if (status.ok()) return 0;
  if (program.json() && !program.failure_printed) {
    std::cout << AnswerOf(status).json << std::endl;
  }
  std::cerr << FailureLine(program.what, status) << std::endl;
  return ExitCodeOf(status);
}

int Main(int argc, char** argv) {
  command_line::CommandLine line({.name = "tapectl",
                                  .purpose = "Records GPU memory onto storage and plays it back.",
                                  .version = kVersion,
                                  .one_line_errors = true,
                                  .options_anywhere = true});
  const Command tapectl = line.program();
  Program program;
  AddGlobalOptions(tapectl, program);
  AddLunCommands(tapectl, program);
  AddChannelCommands(tapectl, program);
  AddTransferCommands(tapectl, program);
  AddRecordingsCommands(tapectl, program);
  AddRecorderCommands(tapectl, program);
  AddScrubCommands(tapectl, program);
  AddJobsCommands(tapectl, program);
  AddNodesCommand(tapectl, program);
  AddTraceCommand(tapectl, program);
  if (const std::optional<int> ended = line.Parse(argc, argv); ended.has_value()) return *ended;
  RouteGrpcLog();
  return Conclude(program, program.run(program));
}

}  // namespace
}  // namespace tapedeck::services::tapectl

int main(int argc, char** argv) { return tapedeck::services::tapectl::Main(argc, argv); }
