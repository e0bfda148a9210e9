// tapectl: the command line of Tapedeck.
#include <iostream>

#include "services/grpc_log.h"
#include "services/tapectl/commands.h"
#include "services/tapectl/failure.h"
#include "services/tapectl/units.h"
#include "services/version.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr int kUsageError = 2;

void AddGlobalOptions(CLI::App& app, Program& program) {
  app.add_option("--storage", program.storage, "HOST:PORT of the storage node")
      ->envname("TAPEDECK_STORAGE")
      ->capture_default_str();
  app.add_option("--worker", program.worker, "HOST:PORT of the GPU worker")
      ->envname("TAPEDECK_WORKER")
      ->capture_default_str();
  app.add_option("--output", program.output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.add_option("--timeout", program.timeout,
                 "Longest time for a call, e.g. 30s (default 60s), or for a whole record, play or "
                 "verify (default none)")
      ->check([](const std::string& text) {
        const auto duration = ParseDurationNs(text);
        return duration.ok() ? std::string() : std::string(duration.status().message());
      });
}

int Conclude(const Program& program, const absl::Status& status) {
  if (status.ok()) return 0;
  if (program.json() && !program.failure_printed) {
    std::cout << Dump({{"error", ToJson(status)}}) << std::endl;
  }
  std::cerr << FailureLine(program.what, status) << std::endl;
  return ExitCodeOf(status);
}

int Main(int argc, char** argv) {
  CLI::App app("Records GPU memory onto storage and plays it back.", "tapectl");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.fallthrough();
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("tapectl: ") + error.what() + "; see tapectl --help\n";
  });
  Program program;
  AddGlobalOptions(app, program);
  AddLunCommands(app, program);
  AddChannelCommands(app, program);
  AddTransferCommands(app, program);
  AddRecordingsCommands(app, program);
  AddRecorderCommands(app, program);
  AddScrubCommands(app, program);
  AddJobsCommands(app, program);
  AddNodesCommand(app, program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // 0 for --help and --version.
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  RouteGrpcLog();
  return Conclude(program, program.run(program));
}

}  // namespace
}  // namespace tapedeck::services::tapectl

int main(int argc, char** argv) { return tapedeck::services::tapectl::Main(argc, argv); }
