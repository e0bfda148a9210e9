#include "tests/disaster/deck.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/opening/reconcile.h"
#include "storage_node/recordings/recordings.h"
#include "storage_node/recordings/retention.h"

namespace tapedeck::disaster {

using namespace storage_node;  // NOLINT: the names under test

absl::StatusOr<std::unique_ptr<Deck>> Deck::Start(const std::string& state_dir,
                                                  std::shared_ptr<const WallClock> clock,
                                                  format::Random random) {
  std::filesystem::create_directories(state_dir);
  TD_ASSIGN_OR_RETURN(const auto luns, luns::ReadLunFiles(state_dir));
  TD_ASSIGN_OR_RETURN(auto catalog, catalog::Catalog::Open(state_dir + "/catalog.sqlite"));
  auto contents =
      std::make_unique<node::NodeContents>(luns::LunsSettings{.state_dir = state_dir,
                                                              .clock = std::move(clock),
                                                              .random = std::move(random),
                                                              .member_roots = {},
                                                              .standby_members = {}},
                                           std::move(catalog));
  TD_RETURN_IF_ERROR(opening::OpenLunsAndReconcile(contents->recordings, luns));
  return std::unique_ptr<Deck>(new Deck(std::move(contents)));
}

absl::StatusOr<services::session::Admission> Deck::Admit(const services::session::Open& open,
                                                         ManualExecutor& executor) {
  std::optional<absl::StatusOr<services::session::Admission>> admission;
  sessions_.Admit(open, executor, std::make_shared<services::session::AdmissionWatch>(),
                  [&](auto admitted) { admission.emplace(std::move(admitted)); });
  if (!executor.RunUntil([&] { return admission.has_value(); })) {
    return absl::DeadlineExceededError("no session came");
  }
  return *std::move(admission);
}

void Deck::ReadAccounts() {
  for (const auto& [id, lun] : contents_->luns.All()) {
    recordings::ReadAccount(contents_->recordings, *lun, SIZE_MAX);
  }
}

void Deck::ApplyPolicies() {
  for (const auto& [id, lun] : contents_->luns.All()) {
    const auto next = recordings::ApplyPolicies(
        contents_->recordings, id, *lun,
        {.max_age_ns = lun->config->max_age_ns, .now_ns = contents_->luns.clock().WallNs()});
    if (!next.ok()) {
      dataplane::Log(dataplane::LogLevel::kError, "retention", "policies not applied",
                     {{"lun", id}, {"error", std::string(next.status().message())}});
    }
  }
}

}  // namespace tapedeck::disaster
