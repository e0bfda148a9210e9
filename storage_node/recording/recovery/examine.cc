#include "storage_node/recording/recovery/examine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/recording/recovery/block_scan.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/recording/recovery/stored_data.h"
#include "storage_node/recording/recovery/stored_index.h"
#include "storage_node/recording/recovery/stored_manifests.h"

namespace tapedeck::storage_node::recording {
namespace {

// One recording whose files are looked at, on the calling thread.
class Examination {
 public:
  Examination(store::Store& store, store::RecordingFiles& files, CallerLoop& loop)
      : store_(store), files_(files), loop_(loop) {}

  absl::StatusOr<Examined> Run(const store::RecordingPath& path, const format::Manifest* row);

 private:
  absl::StatusOr<std::optional<format::Manifest>> FindLost(const store::RecordingPath& path,
                                                           const format::Manifest* row);
  absl::StatusOr<bool> HoldsNothing(const std::optional<format::Manifest>& manifest);

  store::Store& store_;
  store::RecordingFiles& files_;
  CallerLoop& loop_;
  std::optional<format::IndexHeader> header_;
  int64_t last_capture_ns_ = 0;
  bool names_a_block_ = true;  // its index; also if that is not known
};

// The index says whose it is; where it says nothing, the catalog's row has to do.
absl::StatusOr<std::optional<format::Manifest>> Examination::FindLost(
    const store::RecordingPath& path, const format::Manifest* row) {
  if (row != nullptr && (!header_.has_value() || *header_ == row->index_header())) return *row;
  if (!header_.has_value() || header_->manifest.empty()) return std::nullopt;
  TD_ASSIGN_OR_RETURN(format::Manifest manifest, format::DecodeManifest(header_->manifest));
  if (manifest.index_header() == *header_) return manifest;
  return absl::DataLossError(absl::StrCat("the index of ", path.channel, "/", path.recording,
                                          " has a manifest of another recording"));
}

absl::StatusOr<bool> Examination::HoldsNothing(const std::optional<format::Manifest>& manifest) {
  TD_ASSIGN_OR_RETURN(const IndexState index, StateOfIndex(loop_, files_));
  const auto believed = BelievedHeader(store_, loop_, files_);
  if (IsBehind(store_) && !believed.has_value()) return false;
  if (!manifest.has_value()) return index == IndexState::kBlank;
  TD_ASSIGN_OR_RETURN(const auto ring, RingForOne(store_, *manifest));
  if (index != IndexState::kWritten) return IsDataBlank(loop_, files_, *ring, *manifest);
  // An index of another recording tells of none of this one's blocks.
  if (!believed.has_value() || *believed != manifest->index_header()) return false;
  BlockScan scan(loop_, files_, *ring, *manifest);
  TD_RETURN_IF_ERROR(scan.Run());
  last_capture_ns_ = scan.last_capture_ns();
  // A block that is not in its place may be on a member that has lost what says where it lies.
  names_a_block_ = scan.spoken_of() > 0;
  return !names_a_block_;
}

absl::StatusOr<Examined> Examination::Run(const store::RecordingPath& path,
                                          const format::Manifest* row) {
  Manifests stored = ReadManifests(loop_, files_);
  header_ = StoredHeader(loop_, files_);
  Examined examined;
  if (stored.newest.ok()) {
    examined.manifest = *std::move(stored.newest);
  } else if (absl::IsNotFound(stored.newest.status()) || stored.all_damaged) {
    examined.manifest_lost = true;
    examined.manifest_damaged = stored.all_damaged;
    TD_ASSIGN_OR_RETURN(examined.manifest, FindLost(path, row));
  } else {
    return std::move(stored.newest).status();
  }
  const auto& manifest = examined.manifest;
  const bool closed =
      manifest.has_value() && manifest->state != services::RecordingState::kRecording;
  if (closed && !examined.manifest_lost) return examined;
  if (manifest.has_value()) TD_RETURN_IF_ERROR(CheckMembers(header_, *manifest));
  if (examined.manifest_lost || stored.LackOn(manifest->members)) {
    TD_ASSIGN_OR_RETURN(const bool nothing, HoldsNothing(manifest));
    // One that somebody has written once is not one that was just being made.
    examined.holds_nothing = nothing && !examined.manifest_damaged;
  }
  if (examined.manifest_lost && manifest.has_value()) {
    examined.manifest->state = services::RecordingState::kRecording;
    examined.manifest->kept = names_a_block_;
    const bool is_later = last_capture_ns_ >= examined.manifest->open_time_ns;
    if (is_later) examined.manifest->end_time_ns = last_capture_ns_;
  }
  return examined;
}

}  // namespace

absl::StatusOr<Examined> Examine(store::Store& store, const store::RecordingPath& path,
                                 const format::Manifest* row, const dataplane::Clock& clock) {
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.Open(path, {}, loop));
  return Examination(store, *files, loop).Run(path, row);
}

}  // namespace tapedeck::storage_node::recording
