#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/base/files/part_file.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/terminal/failure.h"

namespace tapedeck::services::tapectl {
namespace {

using command_line::ManualPage;
using command_line::ManualSection;

std::vector<ManualSection> Sections() {
  ManualSection statuses{.title = "EXIT STATUS"};
  for (const auto& [status, meaning] : kExitStatuses) {
    statuses.entries.emplace_back(absl::StrCat(status), meaning);
  }
  return {
      statuses,
      {.title = "ENVIRONMENT",
       .entries = {{"NO_COLOR", "If set, progress has no colour."},
                   {"XDG_CONFIG_HOME", "Directory of tapedeck/profiles.yaml; default ~/.config."},
                   {"XDG_STATE_HOME", "Directory of tapedeck/copies; default ~/.local/state."},
                   {"OTEL_EXPORTER_OTLP_ENDPOINT", "Where traces go; unset: nowhere."}}},
      {.title = "FILES",
       .entries = {{"~/.config/tapedeck/profiles.yaml",
                    "Named sets of options, for --profile. Others may not write it."}}}};
}

absl::Status WritePage(const std::string& folder, const ManualPage& page) {
  const std::string path = absl::StrCat(folder, "/", page.name, ".1");
  TD_ASSIGN_OR_RETURN(const auto file, files::PartFile::Create(path, /*replace=*/false));
  size_t done = 0;
  while (done < page.roff.size()) {
    const ssize_t wrote = write(file->fd(), page.roff.data() + done, page.roff.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return files::WriteFailed(path, "write", errno);
    done += static_cast<size_t>(wrote);
  }
  return file->Publish();
}

struct ManualOptions {
  std::string folder;
};

}  // namespace

void AddManualCommand(Command tapectl, Program& program, const command_line::CommandLine& line) {
  auto options = std::make_shared<ManualOptions>();
  const Command manual =
      tapectl.AddCommand("manual", "Write manual pages of all commands, generated from their help");
  manual.AddOption("--to", options->folder, "Output directory for tapectl.1 and the other pages")
      .Required();
  SetRun<ManualOptions>(manual, program, "manual", options,
                        [&line](Program& self, const ManualOptions& given) -> absl::Status {
                          const std::vector<ManualPage> pages = line.Manual(Sections());
                          for (const ManualPage& page : pages) {
                            TD_RETURN_IF_ERROR(WritePage(given.folder, page));
                          }
                          self.Print(
                              AnswerOf("manual", given.folder),
                              absl::StrCat("wrote ", pages.size(), " pages into ", given.folder));
                          return absl::OkStatus();
                        });
}

}  // namespace tapedeck::services::tapectl
