#include "services/model/recording/treatment.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {
namespace {

absl::Status ShowKinds(Program& program) {
  std::vector<TreatmentAnswer> all;
  std::vector<Row> rows;
  for (const auto& [use, command] : model::EnumNames<model::Use>::kTable) {
    for (const auto& [kind, word] : model::EnumNames<model::Kind>::kTable) {
      all.push_back({.command = std::string(command),
                     .kind = std::string(word),
                     .treatment = model::TreatmentOf(use, kind)});
      rows.push_back({all.back().command, all.back().kind, std::string(all.back().treatment.does)});
    }
  }
  program.Print(AnswerOf(all), {"COMMAND", "KIND", "WHAT IT DOES"}, rows);
  return absl::OkStatus();
}

}  // namespace

void AddKindsCommand(Command tapectl, Program& program) {
  tapectl
      .AddCommand("kinds",
                  "Show what each command does with a stream, a segment, parts, a group, a capture "
                  "and a recording under way")
      .WhenGiven([&program] {
        program.what = "kinds";
        program.run = ShowKinds;
      });
}

}  // namespace tapedeck::services::tapectl
