#include "storage_node/recording/recovery/recovery.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/limits.h"
#include "storage_node/recording/recovery/block_scan.h"
#include "storage_node/recording/recovery/stored_data.h"
#include "storage_node/recording/recovery/stored_index.h"
#include "storage_node/recording/recovery/stored_manifests.h"
#include "storage_node/recording/sealer.h"

namespace tapedeck::storage_node::recording {
namespace {

// What is cut off is gone for good: only where the index is this recording's it is known where it
// ends. No header is sound: zeros may be an index that was lost, unless the payload is zeros, too.
absl::StatusOr<bool> MayCut(store::Store& store, CallerLoop& loop, store::RecordingFiles& files,
                            dataplane::SlotPool& ring, const format::Manifest& manifest) {
  if (const auto stored = BelievedHeader(store, loop, files); stored.has_value()) {
    return *stored == manifest.index_header();
  }
  if (IsBehind(store)) return false;
  TD_ASSIGN_OR_RETURN(const IndexState index, StateOfIndex(loop, files));
  if (index != IndexState::kBlank) return false;
  return IsDataBlank(loop, files, ring, manifest);
}

// Of what `scan` has found, with the header that is there.
absl::StatusOr<SealPlan> PlanOf(store::Store& store, CallerLoop& loop, store::RecordingFiles& files,
                                dataplane::SlotPool& ring, const BlockScan& scan,
                                format::Manifest manifest, Cut cut) {
  const auto stored = StoredHeader(loop, files);
  SealPlan plan{.data_bytes = scan.data_bytes(),
                .watermark_generation = scan.watermark().generation + 1,
                .header = manifest.index_header()};
  TD_ASSIGN_OR_RETURN(const bool may_cut, MayCut(store, loop, files, ring, manifest));
  if (stored.has_value() && *stored == plan.header) plan.header = *stored;
  if (may_cut && scan.spoken_of() > 0) {
    plan.index_bytes = manifest.entries().Offset(scan.spoken_of());
  }
  if (scan.cut() > 0) {
    absl::StrAppend(&manifest.cause, "; ", scan.cut(),
                    " blocks that its index names are not whole, and stay in its files");
  }
  if (scan.corrupt() > 0) {
    absl::StrAppend(&manifest.cause,
                    "; durable blocks whose index entries are lost: ", scan.corrupt());
  }
  if (!may_cut) {
    TD_ASSIGN_OR_RETURN(plan.index_bytes, LengthOfIndex(loop, files));
    absl::StrAppend(&manifest.cause, "; its index is damaged or lost, so nothing was cut off");
  } else if (const uint32_t without = CopiesWithout(loop, files, plan.header);
             stored.has_value() && without > 0) {
    absl::StrAppend(&manifest.cause, "; ", without, " of ", files.index_copies(),
                    " copies of its index are damaged or another recording's: it may have had "
                    "more blocks");
  }
  if (!may_cut || cut == Cut::kNothing || scan.is_strange()) {
    plan.data_bytes.assign(manifest.members, format::kMaxRecordingBytes);
  }
  plan.manifest = std::move(manifest);
  return plan;
}

void LogSalvaged(const format::Manifest& manifest, const BlockScan& scan) {
  const bool damaged = scan.corrupt() + scan.unread() > 0;
  dataplane::Log(damaged ? dataplane::LogLevel::kError : dataplane::LogLevel::kInfo, "recovery",
                 "recording salvaged",
                 {{"recording", manifest.id},
                  {"blocks", absl::StrCat(manifest.blocks)},
                  {"missing", absl::StrCat(manifest.missing_blocks())},
                  {"watermark", absl::StrCat(scan.watermark().durable)},
                  {"not_whole", absl::StrCat(scan.cut())},
                  {"corrupt", absl::StrCat(scan.corrupt())},
                  {"unread", absl::StrCat(scan.unread())},
                  {"cause", manifest.cause}});
}

}  // namespace

absl::StatusOr<format::Manifest> LoadManifest(store::Store& store, const store::RecordingPath& path,
                                              const dataplane::Clock& clock) {
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.Open(path, {}, loop));
  TD_ASSIGN_OR_RETURN(format::Manifest manifest, ReadManifests(loop, *files).newest);
  if (manifest.state == services::RecordingState::kRecording) {
    TD_RETURN_IF_ERROR(CheckMembers(StoredHeader(loop, *files), manifest));
  }
  return manifest;
}

absl::Status CheckWhose(const format::Manifest& manifest, const store::RecordingPath& path,
                        const services::Lun& lun) {
  if (manifest.identity.lun.ToString() != lun.recorded_uid() || manifest.id != path.recording ||
      manifest.identity.channel != path.channel) {
    return absl::DataLossError(absl::StrCat("the manifest of ", path.channel, "/", path.recording,
                                            " is that of another recording, ",
                                            manifest.identity.channel, "/", manifest.id));
  }
  const size_t members = lun.striped_members();
  if (manifest.members <= members) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the manifest of ", path.channel, "/", path.recording,
                                          " says ", manifest.members, " members, and ", lun.name,
                                          " has ", members));
}

absl::StatusOr<format::Manifest> SalvageRecording(store::Store& store,
                                                  const store::RecordingPath& path,
                                                  format::Manifest manifest,
                                                  const std::string& cause,
                                                  const dataplane::Clock& clock, Cut cut) {
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.Open(path, {}, loop));
  TD_ASSIGN_OR_RETURN(const auto ring, RingForOne(store, manifest));
  TD_RETURN_IF_ERROR(Await<absl::Status>(loop, [&](auto done) { files->Flush(std::move(done)); }));
  BlockScan scan(loop, *files, *ring, manifest);
  TD_RETURN_IF_ERROR(scan.Run());
  manifest.bytes = scan.bytes();
  manifest.missing = scan.absent();
  manifest.blocks = scan.blocks();
  manifest.start_time_ns = scan.start_time_ns();
  manifest.durable_watermark = scan.absent().empty() ? scan.blocks() : scan.absent().front().first;
  manifest.state = services::RecordingState::kSalvaged;
  manifest.cause = cause;
  // Its index may know the end of one that had been closed.
  if (manifest.end_time_ns == 0) manifest.end_time_ns = clock.WallNs();
  manifest.Advance();
  TD_ASSIGN_OR_RETURN(SealPlan plan,
                      PlanOf(store, loop, *files, *ring, scan, std::move(manifest), cut));
  format::Manifest sealed = plan.manifest;
  TD_RETURN_IF_ERROR(Await<absl::Status>(
      loop, [&](auto done) { SealRecording(*files, std::move(plan), std::move(done)); }));
  LogSalvaged(sealed, scan);
  return sealed;
}

}  // namespace tapedeck::storage_node::recording
