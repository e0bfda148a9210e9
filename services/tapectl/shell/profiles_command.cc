#include "dataplane/status_macros.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/profiles.h"

namespace tapedeck::services::tapectl {
namespace {

std::string ValueOf(const Profile& profile, const std::string& option) {
  const auto found = profile.options.find(option);
  return found == profile.options.end() ? "-" : found->second;
}

absl::Status ListProfiles(Program& program) {
  TD_ASSIGN_OR_RETURN(const Profiles profiles, ReadProfiles(program.profiles));
  std::vector<Row> rows;
  for (const auto& [name, profile] : profiles.all) {
    rows.push_back({name, ValueOf(profile, "storage"), ValueOf(profile, "worker"),
                    ValueOf(profile, "tls-cert"), name == profiles.by_default ? "yes" : "no"});
  }
  program.Print(AnswerOf(profiles), {"NAME", "STORAGE", "WORKER", "CERTIFICATE", "DEFAULT"}, rows);
  return absl::OkStatus();
}

}  // namespace

void AddProfilesCommand(Command tapectl, Program& program) {
  tapectl.AddCommand("profiles", "List the profiles of --profile").WhenGiven([&program] {
    program.what = "profiles";
    program.run = ListProfiles;
  });
}

}  // namespace tapedeck::services::tapectl
