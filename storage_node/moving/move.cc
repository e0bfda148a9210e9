#include "storage_node/moving/move.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/compatible.h"
#include "services/model/recording/part.h"
#include "services/model/words/invalid.h"
#include "storage_node/moving/block_copy.h"
#include "storage_node/moving/move_drafts.h"
#include "storage_node/recordings/readable.h"

namespace tapedeck::storage_node::moving {
namespace {

using recordings::Readable;

// More tiers than anybody has.
constexpr int kMaxTiers = 16;

// One move. On one thread.
class OneMove {
 public:
  OneMove(admission::NodeResources& resources, const MoveRequest& request,
          const MakeChannel& make_channel, services::copying::Pace& pace)
      : resources_(resources), request_(request), make_channel_(make_channel), pace_(pace) {}

  absl::StatusOr<Moved> Run();

 private:
  absl::Status FindTarget();
  // Does nothing to a copy that is none.
  absl::Status RemoveDraft(Readable copy, absl::string_view why);
  absl::StatusOr<std::optional<Readable>> FindCopy();
  absl::StatusOr<Readable> MakeCopy();
  absl::StatusOr<Readable> FindOrMakeCopy();
  absl::StatusOr<Readable> GetCopy();
  absl::Status FinishCopy(const Readable& copy);
  absl::StatusOr<bool> RemoveSource();

  recordings::Recordings& recordings() { return resources_.recordings; }
  const recordings::FoundRecording& source() const { return source_->recording; }

  admission::NodeResources& resources_;
  const MoveRequest& request_;
  const MakeChannel& make_channel_;
  services::copying::Pace& pace_;
  std::optional<Readable> source_;
  services::Channel target_;
  catalog::ResourceName target_name_;
};

// It has the same name and settings as the one that the recording is in.
absl::Status OneMove::FindTarget() {
  target_name_ = source().name;
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName lun_name,
                      catalog::ParseLunName(request_.channel.move_to));
  target_name_.lun = lun_name.lun;
  target_name_.recording.clear();
  TD_ASSIGN_OR_RETURN(const auto lun, resources_.luns.Find(target_name_.lun));
  TD_RETURN_IF_ERROR(CheckTakesMoved(*lun));
  auto found = recordings().FindChannel(target_name_);
  if (absl::IsNotFound(found.status())) {
    services::Channel channel = request_.channel;
    channel.name = target_name_.channel_name();
    channel.move_to.clear();
    channel.move_after_ns = 0;
    channel.move_bytes_per_s = 0;
    TD_RETURN_IF_ERROR(make_channel_(channel));
    found = recordings().FindChannel(target_name_);
  }
  TD_ASSIGN_OR_RETURN(target_, std::move(found));
  // A policy that was made while a LUN was away may lead back.
  TD_RETURN_IF_ERROR(CheckNoWayBack(recordings(), request_.channel, target_name_));
  return services::copying::CheckCompatible(
      format::ToRecording(source().manifest, source().name.channel_name()), target_);
}

absl::Status OneMove::RemoveDraft(Readable copy, absl::string_view why) {
  if (!IsDraft(copy.recording.manifest)) return absl::OkStatus();
  copy.lease = nullptr;
  return recordings().Remove(copy.recording.name, *copy.recording.lun, why).status();
}

// One that was made before, by a move that was killed or by anybody, and is whole.
absl::StatusOr<std::optional<Readable>> OneMove::FindCopy() {
  TD_ASSIGN_OR_RETURN(const auto copies, CopiesIn(recordings(), source(), target_name_));
  for (const catalog::RecordingRow& row : copies) {
    if (!IsWhole(row.manifest, source().manifest)) continue;
    auto copy = recordings::FindReadable(recordings(), row.name.ToString(), /*growing=*/false);
    if (!copy.ok()) continue;
    const absl::Status same = VerifyCopy(source(), copy->recording, resources_.luns.clock(), pace_);
    if (same.ok()) return std::optional<Readable>(*std::move(copy));
    if (absl::IsCancelled(same)) return same;
    dataplane::Log(dataplane::LogLevel::kWarning, "move", "copy not used",
                   {{"recording", row.name.ToString()}, {"why", std::string(same.message())}});
    TD_RETURN_IF_ERROR(RemoveDraft(*std::move(copy), same.message()));
  }
  return std::nullopt;
}

absl::StatusOr<Readable> OneMove::MakeCopy() {
  TD_ASSIGN_OR_RETURN(const std::string name, CopyBlocks(resources_, source(), target_, pace_));
  TD_ASSIGN_OR_RETURN(Readable copy,
                      recordings::FindReadable(recordings(), name, /*growing=*/false));
  const absl::Status same = VerifyCopy(source(), copy.recording, resources_.luns.clock(), pace_);
  if (same.ok()) return copy;
  if (absl::IsDataLoss(same)) TD_RETURN_IF_ERROR(RemoveDraft(std::move(copy), same.message()));
  return same;
}

absl::StatusOr<Readable> OneMove::GetCopy() {
  TD_RETURN_IF_ERROR(RemoveDrafts(recordings(), source(), target_name_, Which::kUnfinished));
  auto copy = FindOrMakeCopy();
  if (copy.ok()) return copy;
  const bool wanted =
      source().lun->channels->Find(source().name.channel).value_or(services::Channel()).move_to ==
      request_.channel.move_to;
  // What cannot be deleted now is by the next try.
  RemoveDrafts(recordings(), source(), target_name_, wanted ? Which::kUnfinished : Which::kAll)
      .IgnoreError();
  return copy.status();
}

absl::StatusOr<Readable> OneMove::FindOrMakeCopy() {
  TD_ASSIGN_OR_RETURN(auto copy, FindCopy());
  if (copy.has_value()) return *std::move(copy);
  return MakeCopy();
}

// What people have noted of the source; from then on the copy is no draft.
absl::Status OneMove::FinishCopy(const Readable& copy) {
  const format::Manifest& from = source().manifest;
  const uint64_t most = copy.recording.lun->store->extras().layout.annotation_bytes;
  const auto settled = recordings().Rewrite(
      copy.recording.name.ToString(), [&](format::Manifest* to) -> absl::Status {
        to->description = from.description;
        to->labels = from.labels;
        to->origin.move_draft.clear();
        size_t bytes = 0;
        for (const services::Annotation& one : from.annotations) {
          bytes += services::BytesOf(one);
          if (std::ranges::find(to->annotations, one) == to->annotations.end()) {
            to->annotations.push_back(one);
          }
        }
        if (bytes <= most) return absl::OkStatus();
        return services::LimitReached(
            most, "bytes of annotations",
            absl::StrCat(source().name.ToString(), " has ", bytes, " bytes of annotations, and ",
                         target_name_.lun_name(), " keeps ", most));
      });
  return settled.status();
}

// What has changed since it was copied is copied first, the next time.
absl::StatusOr<bool> OneMove::RemoveSource() {
  const recordings::FoundRecording source = source_->recording;
  source_.reset();
  return recordings().Remove(source.name, *source.lun,
                             absl::StrCat("moved to ", request_.channel.move_to),
                             [&](const format::Manifest& now) {
                               return now.generation == source.manifest.generation &&
                                      IsDue(now, request_.channel, request_.now_ns);
                             });
}

absl::StatusOr<Moved> OneMove::Run() {
  if (recordings().leases().IsHeld(request_.recording)) return Moved{.end = MoveOutcome::kInUse};
  auto found = recordings::FindReadable(recordings(), request_.recording, /*growing=*/false);
  if (absl::IsNotFound(found.status())) return Moved{};
  TD_RETURN_IF_ERROR(found.status());
  source_.emplace(*std::move(found));
  if (!IsDue(source().manifest, request_.channel, request_.now_ns)) return Moved{};
  TD_RETURN_IF_ERROR(FindTarget());
  TD_ASSIGN_OR_RETURN(Readable copy, GetCopy());
  // Notes that were made meanwhile go with it.
  TD_ASSIGN_OR_RETURN(source_->recording, recordings().Find(request_.recording));
  if (!IsDue(source().manifest, request_.channel, request_.now_ns)) {
    TD_RETURN_IF_ERROR(RemoveDraft(std::move(copy), "tapectl keep protected it during the move"));
    return Moved{};
  }
  TD_RETURN_IF_ERROR(FinishCopy(copy));
  // Not the catalog's word for it.
  const recordings::FoundRecording& there = copy.recording;
  TD_RETURN_IF_ERROR(recordings().OnMembers(*there.lun, there.name, there.manifest).status());
  Moved moved{.copy = copy.recording.name.ToString(), .bytes = source().manifest.bytes};
  TD_ASSIGN_OR_RETURN(const bool removed, RemoveSource());
  moved.end = removed ? MoveOutcome::kMoved : MoveOutcome::kInUse;
  return moved;
}

}  // namespace

bool IsDue(const format::Manifest& manifest, const services::Channel& channel, int64_t now_ns) {
  return manifest.state == services::RecordingState::kSealed && !manifest.kept &&
         manifest.stream.empty() && !manifest.part.has_value() && !IsDraft(manifest) &&
         manifest.end_time_ns + channel.move_after_ns <= now_ns;
}

bool IsOfRecording(const absl::Status& status, const std::string& recording) {
  const auto reason = services::ReasonOf(status);
  if (!reason.has_value()) return false;
  const auto named = reason->metadata.find("recording");
  return named != reason->metadata.end() && named->second == recording;
}

absl::Status CheckTakesMoved(const luns::OpenLun& lun) {
  const std::string name = lun.config->name;
  if (!lun.kind.capabilities.outlives_process) {
    return services::ArgumentInvalid(
        "move_to", absl::StrCat(name, " loses everything when the storage node ends: nothing is ",
                                "moved there"));
  }
  if (lun.config->full_policy != services::FullPolicy::kRing) return absl::OkStatus();
  return services::ArgumentInvalid(
      "move_to",
      absl::StrCat(
          name, " is a ring, which deletes its oldest recordings; name a LUN that is not a ring"));
}

absl::StatusOr<Moved> Move(admission::NodeResources& resources, const MoveRequest& request,
                           const MakeChannel& make_channel, services::copying::Pace& pace) {
  return OneMove(resources, request, make_channel, pace).Run();
}

absl::Status CheckNoWayBack(recordings::Recordings& recordings, const services::Channel& channel,
                            catalog::ResourceName to) {
  for (int tier = 0; tier < kMaxTiers; ++tier) {
    const auto next = recordings.FindChannel(to);
    if (!next.ok() || next->move_to.empty()) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName lun, catalog::ParseLunName(next->move_to));
    to.lun = lun.lun;
    if (to.channel_name() == channel.name) break;
  }
  return services::model::Invalid(
      "move_to", absl::StrCat("channels of this name on other LUNs would move recordings back to ",
                              channel.name, "; clear move_to of one of them"));
}

}  // namespace tapedeck::storage_node::moving
