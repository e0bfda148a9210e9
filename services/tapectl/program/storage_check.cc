#include "services/tapectl/program/storage_check.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "services/base/errors.h"
#include "services/model/recording/treatment.h"
#include "services/site/several_nodes.h"

namespace tapedeck::services::tapectl {
namespace {

// Commands about several nodes, and those about recordings in parts.
std::vector<absl::string_view> TakeSeveral() {
  std::vector<absl::string_view> commands = {"record", "nodes"};
  for (const auto& [use, command] : model::EnumNames<model::Use>::kTable) {
    if (model::TreatmentOf(use, model::Kind::kParts).several) commands.push_back(command);
  }
  return commands;
}

// The same as the first words.
constexpr std::array<absl::string_view, 6> kAskNoStorage = {"jobs",  "profiles", "completion",
                                                            "kinds", "manual",   "receive"};

}  // namespace

bool AsksStorage(const Program& program) {
  const auto begins = [&](absl::string_view word) { return absl::StartsWith(program.what, word); };
  return std::ranges::none_of(kAskNoStorage, begins);
}

absl::Status CheckSeveral(const Program& program) {
  if (!NamesSeveral(program) || !AsksStorage(program)) return absl::OkStatus();
  const std::vector<absl::string_view> several = TakeSeveral();
  if (std::ranges::find(several, program.what) != several.end()) return absl::OkStatus();
  return ArgumentInvalid("storage", absl::StrCat("--storage ", program.storage,
                                                 ": this command is about one node; several take ",
                                                 absl::StrJoin(several, ", ")));
}

}  // namespace tapedeck::services::tapectl
