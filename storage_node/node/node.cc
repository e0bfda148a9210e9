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
#include "storage_node/disk/io_error.h"
#include "storage_node/opening/attach.h"
#include "storage_node/opening/late_luns.h"
#include "storage_node/opening/lost_luns.h"
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
  TD_RETURN_IF_ERROR(disk::MakeDirectory(state_dir, state_dir));
  return disk::FileLock::Take(absl::StrCat(state_dir, "/lock"), state_dir);
}

absl::StatusOr<std::unique_ptr<NodeParts>> OpenParts(StorageSettings settings) {
  auto parts = std::make_unique<NodeParts>();
  parts->settings = std::move(settings);
  parts->desks.SetAtOnce(parts->settings.no_desks);
  parts->memory.SetAtOnce(parts->settings.no_desks);
  if (parts->settings.clock == nullptr) {
    parts->settings.clock = std::make_shared<dataplane::SystemClock>();
  }
  if (!parts->settings.random) parts->settings.random = SystemRandom;
  if (const uint64_t bytes = parts->settings.follow_bytes; bytes > 0) {
    TD_ASSIGN_OR_RETURN(parts->follow_memory, follow::TailMemory::Create(bytes));
  }
  parts->verifier = std::make_shared<recording::Verifier>(parts->settings.random);
  TD_ASSIGN_OR_RETURN(parts->catalog,
                      catalog::Catalog::Open(CatalogPath(parts->settings.state_dir)));
  TD_RETURN_IF_ERROR(opening::OpenLunsAndReconcile(*parts));
  return parts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StorageNode>> StorageNode::Create(StorageSettings settings) {
  TD_ASSIGN_OR_RETURN(disk::FileLock lock, LockState(settings.state_dir));
  TD_ASSIGN_OR_RETURN(auto parts, OpenParts(std::move(settings)));
  std::unique_ptr<StorageNode> node(new StorageNode(std::move(lock), std::move(parts)));
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
  TD_RETURN_IF_ERROR(
      start("retention", recordings::kRetentionPeriod, [this] { retention_.Look(); }));
  TD_RETURN_IF_ERROR(
      start("late-luns", opening::kLateLunsPeriod, [this] { opening::TryLateLuns(*parts_); }));
  return start("lost-luns", opening::kLostLunsPeriod,
               [this] { opening::LookForLostLuns(*parts_); });
}

std::string StorageNode::Waiting() const {
  auto busy = parts_->desks.Busy();
  for (const auto& [lun, waiting] : parts_->upkeep.Busy()) busy[lun] += waiting;
  if (busy.empty()) return "";
  const auto formatter = [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first, " (", entry.second, ")");
  };
  return absl::StrCat("LUNs whose disks have not done what was asked for: ",
                      absl::StrJoin(busy, ", ", formatter));
}

absl::Status RebuildCatalog(const std::string& state_dir, const std::vector<std::string>& members) {
  TD_ASSIGN_OR_RETURN(const disk::FileLock lock, LockState(state_dir));
  const std::string path = CatalogPath(state_dir);
  for (const absl::string_view suffix : {"", "-wal", "-shm"}) {
    const std::string file = absl::StrCat(path, suffix);
    if (unlink(file.c_str()) != 0 && errno != ENOENT) {
      return disk::IoError("unlink", file, state_dir, errno);
    }
  }
  TD_ASSIGN_OR_RETURN(const auto parts, OpenParts({.state_dir = state_dir}));
  TD_RETURN_IF_ERROR(opening::AttachAll(*parts, members));
  for (const auto& [id, lun] : parts->luns.Offline()) {
    TD_RETURN_IF_ERROR(parts->luns.Find(id).status());
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::node
