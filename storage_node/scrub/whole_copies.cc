#include "storage_node/scrub/whole_copies.h"

#include "dataplane/status_macros.h"
#include "storage_node/luns/config_files.h"

namespace tapedeck::storage_node::scrub {

void WholeCopies::Begin(const catalog::ResourceName& scope) {
  const auto lun = recordings_.luns().Find(scope.lun);
  if (!lun.ok() || (*lun)->store->copies() == nullptr) return;
  lun_ = scope.lun;
  open_ = *lun;
  omissions_ = (*lun)->store->copies()->omissions();
}

absl::Status WholeCopies::Conclude(bool repaired) {
  const auto lun = open_.lock();
  if (lun == nullptr || lun->lacking().ok()) return absl::OkStatus();
  if (!repaired) return absl::DataLossError("not all could be repaired");
  if (missed_)
    return absl::UnavailableError("a recording or its second copy was left out: scrub once more");
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
  TD_RETURN_IF_ERROR(luns::DescribeOnMembers(*lun, lun->channels->All()));
  return lun->store->copies()->Trust(omissions_, known);
}

}  // namespace tapedeck::storage_node::scrub
