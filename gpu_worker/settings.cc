#include "gpu_worker/settings.h"

#include <CLI/CLI.hpp>

#include "services/version.h"

namespace tapedeck::gpu_worker {
namespace {

// As the other programs: 2 for a wrong command line.
constexpr int kUsage = 2;

}  // namespace

std::optional<Settings> ParseSettings(int argc, char** argv, int* exit_status) {
  Settings settings;
  CLI::App app("Tapedeck GPU worker: records from and plays back to a GPU or host memory.",
               "tapedeck-worker");
  app.set_version_flag("--version", services::kVersion);
  app.add_option("--listen", settings.listen, "HOST:PORT of the gRPC services; port 0 chooses one")
      ->capture_default_str();
  app.add_option("--device", settings.device, "auto, host or cuda:N")->capture_default_str();
  app.add_option("--rail", settings.rails,
                 "NAME=KIND:ADDRESS, e.g. r0=tcp:10.0.0.2; once for each network port");
  app.add_option("--connections-per-rail", settings.connections_per_rail,
                 "Connections of each rail; more than one pays where one thread cannot fill a port")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_status = app.exit(error) == 0 ? 0 : kUsage;
    return std::nullopt;
  }
  return settings;
}

}  // namespace tapedeck::gpu_worker
