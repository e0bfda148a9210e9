#include "services/copy/finish_copy.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/compare.h"
#include "services/model/recording/damage_kind.h"

namespace tapedeck::services::copying {
namespace {

// Notes may be made between the look at the original and its deletion, but not for ever.
constexpr int kDeleteTurns = 3;

absl::Status CompareCounts(const Compared& compared, const Recording& source,
                           const Recording& copy) {
  if (copy.original_uid != source.uid || copy.state != RecordingState::kSealed ||
      copy.blocks != source.blocks) {
    return NotWhole(compared, absl::StrCat("it is ", model::NameOf(copy.state), " with ",
                                           copy.blocks, " of ", source.blocks, " blocks"));
  }
  if (copy.missing_blocks > source.missing_blocks) {
    const uint64_t lost = copy.missing_blocks - source.missing_blocks;
    return NotWhole(compared,
                    absl::StrCat(lost, " blocks could not be read; tapectl recordings verify ",
                                 source.name, " says which"),
                    lost);
  }
  return absl::OkStatus();
}

// Those of `all` that are not among `there`.
std::vector<Annotation> Lacking(const std::vector<Annotation>& all,
                                const std::vector<Annotation>& there) {
  std::vector<Annotation> lacking;
  std::ranges::copy_if(all, std::back_inserter(lacking), [&](const Annotation& one) {
    return std::ranges::find(there, one) == there.end();
  });
  return lacking;
}

}  // namespace

absl::StatusOr<std::optional<Recording>> FindCopy(client::CatalogClient& catalog,
                                                  const Recording& source,
                                                  const std::string& channel) {
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> all, catalog.ListRecordings(channel));
  const auto found = std::ranges::find_if(all, [&](const Recording& one) {
    return one.original_uid == source.uid && one.state == RecordingState::kSealed &&
           one.blocks == source.blocks;
  });
  return found == all.end() ? std::optional<Recording>() : *found;
}

absl::StatusOr<std::optional<Recording>> FindMoved(client::CatalogClient& catalog,
                                                   const std::string& source,
                                                   const std::string& channel) {
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> all, catalog.ListRecordings(channel));
  const auto found = std::ranges::find_if(all, [&](const Recording& one) {
    return one.original == source && one.state == RecordingState::kSealed;
  });
  return found == all.end() ? std::optional<Recording>() : *found;
}

absl::Status CopyNotes(client::CatalogClient& catalog, client::RecorderClient& recorder,
                       const Recording& source, const std::string& copy,
                       const std::function<bool()>& go_on) {
  TD_ASSIGN_OR_RETURN(const Recording now, catalog.GetRecording(copy));
  model::Labels labels = source.labels;
  labels.insert(now.labels.begin(), now.labels.end());
  if (now.description != source.description || now.labels != labels) {
    RecordingUpdate update{.name = copy};
    update.Set(&Recording::description, source.description);
    update.Set(&Recording::labels, std::move(labels));
    TD_RETURN_IF_ERROR(catalog.UpdateRecording(update).status());
  }
  const std::vector<Annotation> lacking = Lacking(source.annotations, now.annotations);
  size_t done = 0;
  TD_RETURN_IF_ERROR(recorder.Annotate(copy, lacking, go_on, &done));
  if (source.kept && !now.kept) TD_RETURN_IF_ERROR(recorder.KeepRecording(copy, true));
  return absl::OkStatus();
}

absl::Status CheckCopy(client::CatalogClient& catalog, const Recording& source,
                       const std::string& copy, absl::Duration timeout) {
  TD_ASSIGN_OR_RETURN(const Recording now, catalog.GetRecording(copy));
  const Compared compared{.original = source.name, .copy = copy, .blocks = source.blocks};
  TD_RETURN_IF_ERROR(CompareCounts(compared, source, now));
  uint64_t blocks = 0;
  std::string of_file;  // the first such damage
  TD_RETURN_IF_ERROR(catalog.VerifyRecording(copy, timeout, [&](const VerifyProgress& progress) {
    for (const DamagedBlock& one : progress.damaged) {
      if (!model::IsOfBlock(one.kind)) {
        if (of_file.empty()) of_file = one.detail;
      } else if (one.kind != model::DamageKind::kMissing) {
        ++blocks;
      }
    }
  }));
  if (blocks > 0) {
    return NotWhole(compared, absl::StrCat(blocks, " of its blocks are damaged"), blocks);
  }
  return of_file.empty() ? absl::OkStatus() : NotWhole(compared, of_file);
}

bool IsGone(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() && reason->reason == "RECORDING_NOT_FOUND";
}

absl::Status CheckNotGoneOn(const Recording& source, const Recording& now) {
  if (now.state == source.state && now.blocks == source.blocks && now.bytes == source.bytes &&
      now.missing_blocks == source.missing_blocks) {
    return absl::OkStatus();
  }
  return RecordingBusy(
      source.name, model::NameOf(now.state),
      absl::StrCat(source.name, " grew after it was copied, from ", source.blocks, " blocks to ",
                   now.blocks, ", and is not deleted; repeat the command once it is closed"));
}

absl::Status DeleteOriginal(client::CatalogClient& from, client::CatalogClient& to,
                            client::RecorderClient& recorder, const Recording& source,
                            const std::string& copy) {
  absl::Status deleted;
  std::string etag = source.etag;
  for (int turn = 0; turn < kDeleteTurns; ++turn) {
    const auto now = from.GetRecording(source.name);
    if (IsGone(now.status())) return absl::OkStatus();
    TD_RETURN_IF_ERROR(now.status());
    TD_RETURN_IF_ERROR(CheckNotGoneOn(source, *now));
    if (now->etag != etag) TD_RETURN_IF_ERROR(CopyNotes(to, recorder, *now, copy));
    etag = now->etag;
    deleted = from.DeleteRecording(source.name, etag);
    if (deleted.ok() || IsGone(deleted)) return absl::OkStatus();
  }
  return deleted;
}

absl::Status RemoveUnfinished(client::CatalogClient& catalog, const Recording& source,
                              const std::string& channel) {
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> all, catalog.ListRecordings(channel));
  for (const Recording& one : all) {
    if (one.original_uid != source.uid || one.state != RecordingState::kSalvaged) continue;
    // What a copy left that broke off has no more than the source: neither blocks nor marks.
    const bool is_more = one.blocks - one.missing_blocks > source.blocks - source.missing_blocks;
    const bool is_marked = !Lacking(one.annotations, source.annotations).empty();
    if (one.kept || is_marked || is_more) continue;
    const absl::Status deleted = catalog.DeleteRecording(one.name, one.etag);
    if (!absl::IsNotFound(deleted)) TD_RETURN_IF_ERROR(deleted);
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::copying
