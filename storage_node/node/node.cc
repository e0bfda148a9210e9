#include "storage_node/node/node.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/disk/errors.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/node/metrics.h"
#include "storage_node/opening/attach.h"
#include "storage_node/opening/lun_watch.h"
#include "storage_node/opening/reconcile.h"

namespace tapedeck::storage_node::node {
namespace {

uint64_t SystemRandom() {
  uint64_t value = 0;
  // Up to 256 bytes come whole and without error once the system has booted: getrandom(2).
  [[maybe_unused]] const ssize_t got = getrandom(&value, sizeof(value), 0);
  return value;
}

std::string CatalogPath(const std::string& state_dir) {
  return absl::StrCat(state_dir, "/catalog.sqlite");
}

absl::StatusOr<disk::FileLock> LockState(const std::string& state_dir) {
  TD_RETURN_IF_ERROR(disk::OfState(state_dir, disk::MakeDirectory(state_dir, state_dir)));
  auto lock = disk::FileLock::Take(absl::StrCat(state_dir, "/lock"), state_dir);
  if (!lock.ok()) return disk::OfState(state_dir, lock.status());
  return lock;
}

// How soon the catalog has what waited for the state directory.
constexpr absl::Duration kCatalogPeriod = absl::Seconds(1);

enum class OldCatalog { kKept, kThrownAway };

absl::Status RemoveCatalog(const std::string& state_dir) {
  for (const absl::string_view suffix : {"", "-wal", "-shm"}) {
    const std::string file = absl::StrCat(CatalogPath(state_dir), suffix);
    if (unlink(file.c_str()) != 0 && errno != ENOENT) {
      return disk::OfState(state_dir, disk::IoError("unlink", file, state_dir, errno));
    }
  }
  return absl::OkStatus();
}

// What cannot be read of the state directory, being of another version, stops this before anything
// is changed there.
absl::StatusOr<std::unique_ptr<NodeContents>> OpenContents(luns::LunsSettings settings,
                                                           OldCatalog old) {
  TD_ASSIGN_OR_RETURN(const auto luns, luns::ReadLunFiles(settings.state_dir));
  if (old == OldCatalog::kThrownAway) TD_RETURN_IF_ERROR(RemoveCatalog(settings.state_dir));
  TD_ASSIGN_OR_RETURN(auto catalog, catalog::Catalog::Open(CatalogPath(settings.state_dir)));
  auto contents = std::make_unique<NodeContents>(std::move(settings), std::move(catalog));
  TD_RETURN_IF_ERROR(opening::OpenLunsAndReconcile(contents->recordings, luns));
  return contents;
}

luns::LunsSettings LunsSettingsOf(const StorageSettings& settings) {
  luns::LunsSettings luns{.state_dir = settings.state_dir,
                          .clock = settings.clock,
                          .random = settings.random,
                          .member_roots = settings.member_roots,
                          .standby_members = opening::NamesOf(settings.standby_for),
                          .no_queues = settings.no_queues};
  if (luns.clock == nullptr) luns.clock = std::make_shared<dataplane::SystemClock>();
  if (!luns.random) luns.random = SystemRandom;
  return luns;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StorageNode>> StorageNode::Create(StorageSettings settings) {
  TD_ASSIGN_OR_RETURN(disk::FileLock lock, LockState(settings.state_dir));
  std::shared_ptr<follow::TailMemory> follow_memory;
  if (settings.follow_bytes > 0) {
    TD_ASSIGN_OR_RETURN(follow_memory, follow::TailMemory::Create(settings.follow_bytes));
  }
  std::shared_ptr<recording::CheckThreads> checks;
  if (settings.check_threads > 0) {
    TD_ASSIGN_OR_RETURN(checks, recording::CheckThreads::Create(settings.check_threads));
  }
  TD_ASSIGN_OR_RETURN(auto contents, OpenContents(LunsSettingsOf(settings), OldCatalog::kKept));
  auto verifier = std::make_shared<recording::WriteVerifier>(contents->luns.random());
  std::unique_ptr<StorageNode> node(new StorageNode(std::move(lock), std::move(contents),
                                                    {.ring_slots = settings.ring_slots,
                                                     .ring_bytes = settings.ring_bytes,
                                                     .rails = settings.rails},
                                                    std::move(verifier), std::move(follow_memory),
                                                    std::move(checks), settings.standby_for,
                                                    settings.patience));
  TD_RETURN_IF_ERROR(node->StartRounds());
  return node;
}

absl::Status StorageNode::StartRounds() {
  const auto start = [this](const char* name, absl::Duration period,
                            std::function<void()> round) -> absl::Status {
    TD_ASSIGN_OR_RETURN(auto rounds, Rounds::Start(name, period, std::move(round)));
    rounds_.push_back(std::move(rounds));
    return absl::OkStatus();
  };
  TD_RETURN_IF_ERROR(start("retention", recordings::kRetentionPeriod, [this] {
    retention_.Look();
    rates_.Look();
    contents_->recordings.closer()->Look();
  }));
  TD_RETURN_IF_ERROR(start("catalog", kCatalogPeriod, [this] {
    // What it meets is told in health(); with an older note the next node deletes later.
    if (contents_->recordings.catalog()->Retry().ok())
      contents_->recordings.clock_steps().Save().IgnoreError();
  }));
  TD_RETURN_IF_ERROR(start("late-luns", opening::kLateLunsPeriod,
                           [this] { opening::TryLateLuns(contents_->recordings); }));
  TD_RETURN_IF_ERROR(start("mover", moving::kMoverPeriod, [this] { mover_.Look(); }));
  standbys_.Look();
  TD_RETURN_IF_ERROR(start("standbys", opening::kStandbysPeriod, [this] { standbys_.Look(); }));
  return start("lost-luns", opening::kLostLunsPeriod, [this] {
    opening::LookForLostLuns(contents_->luns);
    scrubs_.Look();
  });
}

void StorageNode::AddMetrics(services::telemetry::Page& page) {
  AddLuns(page, contents_->recordings, mover_.waiting());
  const catalog::Catalog& catalog = *contents_->recordings.catalog();
  page.Add("tapedeck_state_failing", !catalog.health().ok());
  page.Add("tapedeck_state_changes_waiting", catalog.waiting());
  page.Add("tapedeck_scrubs_running", scrubs_.running());
  const auto& memory = resources_.follow_memory;
  page.Add("tapedeck_follow_memory_bytes", memory == nullptr ? 0 : memory->bytes());
  page.Add("tapedeck_follow_memory_limit_bytes", memory == nullptr ? 0 : memory->limit_bytes());
}

std::string StorageNode::Waiting() const {
  auto busy = contents_->luns.queues().Busy();
  for (const auto& [lun, waiting] : contents_->luns.upkeep().Busy()) busy[lun] += waiting;
  std::vector<std::string> left;
  const auto formatter = [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first, " (", entry.second, ")");
  };
  if (!busy.empty()) {
    left.push_back(
        absl::StrCat("LUNs whose disks have not answered: ", absl::StrJoin(busy, ", ", formatter)));
  }
  if (const auto moves = mover_.under_way(); !moves.empty()) {
    left.push_back(absl::StrCat("moves: ", absl::StrJoin(moves, ", ")));
  }
  if (const auto scrubs = scrubs_.under_way(); !scrubs.empty()) {
    left.push_back(absl::StrCat("scrubs: ", absl::StrJoin(scrubs, ", ")));
  }
  return absl::StrJoin(left, "; ");
}

absl::Status RebuildCatalog(const std::string& state_dir, const std::vector<std::string>& members,
                            const luns::MemberRoots& member_roots) {
  TD_ASSIGN_OR_RETURN(const disk::FileLock lock, LockState(state_dir));
  const StorageSettings settings{.state_dir = state_dir, .member_roots = member_roots};
  TD_ASSIGN_OR_RETURN(const auto contents,
                      OpenContents(LunsSettingsOf(settings), OldCatalog::kThrownAway));
  TD_RETURN_IF_ERROR(opening::AttachAll(contents->recordings, members));
  for (const auto& [id, lun] : contents->luns.Offline()) {
    TD_RETURN_IF_ERROR(contents->luns.Find(id).status());
  }
  return contents->recordings.catalog()->Retry();
}

}  // namespace tapedeck::storage_node::node
