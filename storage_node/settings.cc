#include "storage_node/settings.h"

#include <CLI/CLI.hpp>

#include "services/version.h"

namespace tapedeck::storage_node {
namespace {

// As the other programs: 2 for a wrong command line.
constexpr int kUsage = 2;

}  // namespace

std::optional<Settings> ParseSettings(int argc, char** argv, int* exit_status) {
  Settings settings;
  CLI::App app("Tapedeck storage node: keeps recordings on its LUNs.", "tapedeck-storage");
  app.set_version_flag("--version", services::kVersion);
  app.add_option("--listen", settings.listen, "HOST:PORT of the gRPC services; port 0 chooses one")
      ->capture_default_str();
  app.add_option("--state", settings.state, "Directory of the catalog; made if it is missing")
      ->required();
  app.add_option("--rail", settings.rails,
                 "NAME=KIND:ADDRESS[:PORT], e.g. r0=tcp:10.0.0.1; once for each network port");
  app.add_option("--follow-memory", settings.follow_bytes,
                 "Memory for the newest blocks of all recordings that are followed, e.g. 512MiB; "
                 "followers further behind read the disk; 0: all do")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_flag("--check", settings.check,
               "Read every recording, print what is damaged, change nothing, then exit: 1 if "
               "anything is");
  app.add_flag("--rebuild-catalog", settings.rebuild_catalog,
               "Make the catalog again from the LUNs' files, then exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_status = app.exit(error) == 0 ? 0 : kUsage;
    return std::nullopt;
  }
  return settings;
}

}  // namespace tapedeck::storage_node
