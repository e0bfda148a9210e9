#include "storage_node/opening/adopt.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/recording/recovery/examine.h"
#include "storage_node/recording/recovery/recovery.h"

namespace tapedeck::storage_node::opening {
namespace {

constexpr char kCutOff[] =
    "ABORTED: the storage node stopped while recording, or the LUN went away";
constexpr char kLaterIsUnknown[] =
    ", and its description comes from its index or the catalog; later changes of description, "
    "labels, annotations and keep are lost";

std::string CauseOf(const recording::Examined& examined) {
  if (!examined.manifest_lost) return kCutOff;
  return absl::StrCat("DATA_LOSS: its manifest was ",
                      examined.manifest_damaged ? "damaged" : "lost", kLaterIsUnknown);
}

// It stays as it is: in no list, or as its row has it.
void LeaveOut(const catalog::ResourceName& name, const absl::Status& why) {
  dataplane::Log(dataplane::LogLevel::kError, "reconcile", "recording left out",
                 {{"recording", name.ToString()}, {"error", std::string(why.message())}});
}

// Whose it is, as far as the files or `row` tell.
absl::StatusOr<recording::Examined> ExamineOurs(recordings::Recordings& recordings,
                                                luns::OpenLun& lun,
                                                const store::RecordingPath& path,
                                                const format::Manifest* row) {
  TD_ASSIGN_OR_RETURN(auto examined,
                      recording::Examine(*lun.store, path, row, recordings.luns().clock()));
  if (examined.manifest.has_value()) {
    TD_RETURN_IF_ERROR(recording::CheckWhose(*examined.manifest, path, *lun.config.now()));
  } else if (!examined.holds_nothing) {
    return absl::DataLossError(
        "neither its manifest nor its index describes it; its files stay unchanged");
  }
  return examined;
}

}  // namespace

absl::Status DeleteInterrupted(recordings::Recordings& recordings, luns::OpenLun& lun,
                               const store::RecordingPath& path, const catalog::ResourceName& name,
                               absl::string_view why) {
  TD_RETURN_IF_ERROR(lun.store->DeleteRecording(path));
  recordings::LogDeleted(name, why);
  recordings.catalog()->DeleteRecording(name);
  return absl::OkStatus();
}

absl::Status Adopt(recordings::Recordings& recordings, const catalog::ResourceName& name,
                   const format::Manifest* known, luns::OpenLun& lun) {
  store::RecordingPath path{.channel = name.channel, .recording = name.recording};
  auto examined = ExamineOurs(recordings, lun, path, known);
  if (!examined.ok()) {
    LeaveOut(name, examined.status());
    return absl::OkStatus();
  }
  if (examined->manifest.has_value()) path.members = examined->manifest->members;
  if (examined->holds_nothing) {
    return DeleteInterrupted(recordings, lun, path, name,
                             "the node stopped while creating it, and it has no blocks");
  }
  catalog::RecordingRow row{.name = name, .manifest = *std::move(examined->manifest)};
  TD_RETURN_IF_ERROR(recordings.catalog()->CheckTakes());
  recordings.catalog()->PutRecording(name, row.manifest);
  // 0 while unfinished: salvaging says it.
  lun.capacity->Settle(name.ToString(), lun.TakenBy(row.manifest),
                       recording::Capacity::Known::kByFiles);
  // One that cannot be read now is tried again in a while; the others are served.
  const absl::Status status = recordings.CloseAbandoned(lun, &row, CauseOf(*examined));
  if (!status.ok()) recordings.closer()->Failed(name.ToString(), status);
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::opening
