#include "storage_node/repair/manifest_repair.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/damage.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recording/recovery/stored_index.h"
#include "storage_node/recording/recovery/stored_manifests.h"

namespace tapedeck::storage_node::repair {
namespace {

// The text of each copy that is a sound manifest of this recording, closed.
using ManifestCopies = std::vector<absl::StatusOr<std::string>>;

// Of a sound one.
uint64_t GenerationOf(const std::string& text) {
  const auto manifest = format::DecodeManifest(text);
  return manifest.ok() ? manifest->generation : 0;
}

// One recording, on the calling thread.
class ManifestRepair {
 public:
  // `ordered`: whether the deletion of the recording was.
  ManifestRepair(std::unique_ptr<store::RecordingFiles> files, const format::Manifest& manifest,
                 std::function<bool()> ordered, recording::CallerLoop& loop)
      : loop_(loop), files_(std::move(files)), manifest_(manifest), ordered_(std::move(ordered)) {}

  RepairProgress Run();

 private:
  ManifestCopies Read();
  absl::StatusOr<std::string> Read(uint32_t copy);
  // The copy that the others shall be like, if one can be told.
  std::optional<uint32_t> Newest(const ManifestCopies& copies) const;
  bool IsAsInCatalog(const std::string& text) const;
  // Says what the catalog has; false: nothing proves that this is the recording's.
  bool WriteLost();
  void Repair(const ManifestCopies& copies, uint32_t newest);
  void Found(std::string detail, bool repaired);

  recording::CallerLoop& loop_;
  const std::unique_ptr<store::RecordingFiles> files_;
  const format::Manifest& manifest_;
  const std::function<bool()> ordered_;
  RepairProgress progress_;
};

void ManifestRepair::Found(std::string detail, bool repaired) {
  progress_.damaged.push_back(
      {.block = {.kind = services::DamageKind::kManifest, .detail = std::move(detail)},
       .repaired = repaired});
}

absl::StatusOr<std::string> ManifestRepair::Read(uint32_t copy) {
  TD_ASSIGN_OR_RETURN(std::string text,
                      recording::Await<absl::StatusOr<std::string>>(
                          loop_, [&](auto done) { files_->ReadManifest(copy, std::move(done)); }));
  progress_.bytes += text.size();
  TD_RETURN_IF_ERROR(CheckManifestText(text, manifest_));
  return text;
}

ManifestCopies ManifestRepair::Read() {
  ManifestCopies copies;
  for (uint32_t copy = 0; copy < files_->manifest_copies(); ++copy) {
    copies.push_back(Read(copy));
    // The read may have been bad: a second look decides.
    if (!copies.back().ok()) copies.back() = Read(copy);
  }
  return copies;
}

bool ManifestRepair::IsAsInCatalog(const std::string& text) const {
  const auto found = format::DecodeManifest(text);
  return found.ok() && format::EncodeManifest(*found) == format::EncodeManifest(manifest_);
}

std::optional<uint32_t> ManifestRepair::Newest(const ManifestCopies& copies) const {
  std::vector<uint32_t> newest;  // all of the highest generation
  for (uint32_t copy = 0; copy < copies.size(); ++copy) {
    if (!copies[copy].ok()) continue;
    const uint64_t generation = GenerationOf(*copies[copy]);
    if (generation < manifest_.generation) continue;  // the newest one is lost
    const uint64_t highest = newest.empty() ? generation : GenerationOf(*copies[newest[0]]);
    if (generation > highest) newest.clear();
    if (generation >= highest) newest.push_back(copy);
  }
  const auto is_like_the_first = [&](uint32_t copy) { return *copies[copy] == *copies[newest[0]]; };
  const auto is_in_catalog = [&](uint32_t copy) { return IsAsInCatalog(*copies[copy]); };
  if (newest.empty()) return std::nullopt;
  const auto chosen = std::ranges::all_of(newest, is_like_the_first)
                          ? newest.begin()
                          : std::ranges::find_if(newest, is_in_catalog);
  if (chosen == newest.end()) return std::nullopt;
  return *chosen;
}

// All copies are replaced, those that were sound by what they say already: each is one or the other
// at any moment.
void ManifestRepair::Repair(const ManifestCopies& copies, uint32_t newest) {
  const std::string& text = *copies[newest];
  progress_.bytes += text.size() * copies.size();
  const absl::Status written = recording::Await<absl::Status>(
      loop_, [&](auto done) { files_->WriteManifest(text, std::move(done)); });
  const ManifestCopies back = Read();
  for (uint32_t copy = 0; copy < copies.size(); ++copy) {
    const bool was_sound = copies[copy].ok() && *copies[copy] == text;
    absl::Status end = was_sound ? absl::OkStatus() : written;
    end.Update(back[copy].status());
    if (end.ok() && *back[copy] != text) {
      end = absl::DataLossError("the data read back differs from the data written");
    }
    if (was_sound && end.ok()) continue;
    const std::string found = copies[copy].ok() ? "manifest.json: it is older"
                                                : std::string(copies[copy].status().message());
    const std::string outcome = end.ok() ? absl::StrCat("rewritten from copy ", newest)
                                         : absl::StrCat("rewriting it failed: ", end.message());
    Found(absl::StrCat(found, "; copy ", copy, ": ", outcome), end.ok());
  }
}

bool ManifestRepair::WriteLost() {
  const auto newest = recording::ReadManifests(loop_, *files_).newest;
  const bool is_older = newest.ok() && newest->generation < manifest_.generation;
  if (!is_older && !absl::IsNotFound(newest.status())) return false;
  const auto header = recording::StoredHeader(loop_, *files_);
  if (header != manifest_.index_header() || ordered_()) return false;
  const std::string text = format::EncodeManifest(manifest_);
  absl::Status end = recording::Await<absl::Status>(
      loop_, [&](auto done) { files_->WriteManifest(text, std::move(done)); });
  const ManifestCopies back = Read();
  for (const auto& copy : back) {
    end.Update(copy.status());
    if (end.ok() && *copy != text) {
      end = absl::DataLossError("the data read back differs from the data written");
    }
  }
  Found(absl::StrCat(is_older ? "manifest.json: it is older than the catalog's; "
                              : "manifest.json: it was lost; ",
                     end.ok() ? "written again from the catalog"
                              : absl::StrCat("writing it again failed: ", end.message())),
        end.ok());
  return true;
}

RepairProgress ManifestRepair::Run() {
  const ManifestCopies copies = Read();
  const auto is_sound = [](const auto& copy) { return copy.ok(); };
  const auto is_new = [&](const auto& copy) {
    return copy.ok() && GenerationOf(*copy) >= manifest_.generation;
  };
  if (std::ranges::none_of(copies, is_new) && WriteLost()) return std::move(progress_);
  if (files_->manifest_copies() < 2) return {};
  if (const auto newest = Newest(copies); newest.has_value()) {
    const auto is_newest = [&](const auto& copy) { return copy.ok() && *copy == *copies[*newest]; };
    if (!std::ranges::all_of(copies, is_newest)) Repair(copies, *newest);
  } else if (std::ranges::any_of(copies, is_sound)) {
    Found("the manifest copies differ although each is sound; neither was rewritten", false);
  } else {
    Found(absl::StrCat(copies[0].status().message(), "; no copy is sound"), false);
  }
  return std::move(progress_);
}

}  // namespace

absl::Status CheckManifestText(const std::string& text, const format::Manifest& manifest) {
  TD_ASSIGN_OR_RETURN(const format::Manifest found, format::DecodeManifest(text));
  if (found.id != manifest.id || found.index_header() != manifest.index_header() ||
      found.identity.channel != manifest.identity.channel) {
    return absl::DataLossError("manifest.json: it is of another recording");
  }
  if (found.state == services::RecordingState::kRecording) {
    return absl::AbortedError("manifest.json: it is older, and says that the recording is open");
  }
  return absl::OkStatus();
}

absl::StatusOr<RepairProgress> RepairManifest(store::Store& store, const store::RecordingPath& path,
                                              const format::Manifest& manifest,
                                              const dataplane::Clock& clock) {
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(auto files, store.Open(path, {}, loop));
  const auto ordered = [&] {
    const auto begun = store.extras().recovery->BegunDeletions(
        {.channels = {path.channel}, .recordings = {path}, .is_part = true});
    return !begun.ok() || std::ranges::find(*begun, path) != begun->end();
  };
  return ManifestRepair(std::move(files), manifest, ordered, loop).Run();
}

}  // namespace tapedeck::storage_node::repair
