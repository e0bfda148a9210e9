#include "storage_node/scrub/whole_copies.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/luns/config_files.h"

namespace tapedeck::storage_node::scrub {

namespace {

// A recording that lies on a member and could not be read when its LUN was opened is in no list: no
// scrub has been over it, and of its copy that is behind nobody may say that it is whole.
absl::Status CheckAllKnown(store::Store& store,
                           const std::function<absl::StatusOr<store::Known>()>& known) {
  TD_ASSIGN_OR_RETURN(const store::Known listed, known());
  TD_ASSIGN_OR_RETURN(const auto there, store.ListRecordings(listed));
  for (const store::RecordingPath& path : there) {
    if (listed.recordings.contains(path)) continue;
    return absl::DataLossError(
        absl::StrCat("recording ", path.channel, "/", path.recording,
                     " lies on a member and could not be read: the log of the LUN's opening says "
                     "what is wrong with it"));
  }
  return absl::OkStatus();
}

}  // namespace

void WholeCopies::Begin(const catalog::ResourceName& scope) {
  const auto lun = recordings_.luns().Find(scope.lun);
  if (!lun.ok()) return;
  const store::Copies* const copies = (*lun)->store->extras().copies;
  if (copies == nullptr) return;
  lun_ = scope.lun;
  open_ = *lun;
  omissions_ = copies->omissions();
}

absl::Status WholeCopies::Conclude(bool repaired) {
  const auto lun = open_.lock();
  if (lun == nullptr || lun->lacking().ok()) return absl::OkStatus();
  if (!repaired) return absl::DataLossError("not all could be repaired");
  if (missed_)
    return absl::UnavailableError("a recording or its second copy was left out: scrub again");
  const auto known = [&]() -> absl::StatusOr<store::Known> {
    TD_ASSIGN_OR_RETURN(const auto rows,
                        recordings_.catalog()->ListRecordings({.lun = lun_, .channel = "-"}));
    store::Known all{.channels = lun->channels->Ids()};
    for (const catalog::RecordingRow& row : rows) {
      all.recordings.insert(recordings::PathOf(row.name, row.manifest));
    }
    return all;
  };
  const absl::MutexLock changing(lun->changing.get());
  TD_RETURN_IF_ERROR(CheckAllKnown(*lun->store, known));
  TD_RETURN_IF_ERROR(luns::DescribeOnMembers(*lun, lun->channels->All()));
  return lun->store->extras().copies->Trust(omissions_, known);
}

}  // namespace tapedeck::storage_node::scrub
