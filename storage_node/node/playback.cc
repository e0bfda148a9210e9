#include "storage_node/node/playback.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/node/recordings.h"
#include "storage_node/node/session_ring.h"
#include "storage_node/node/stream.h"
#include "storage_node/recording_reader.h"
#include "storage_node/ring_share.h"
#include "storage_node/seek.h"
#include "storage_node/stream_source.h"

namespace tapedeck::storage_node {
namespace {

using dataplane::TransferOp;
using services::session::Admission;
using services::session::Open;
using services::session::Playhead;

// What is played, and what keeps it there. The LUN goes last: its store must outlive the files.
struct Playable {
  FoundRecording recording;
  std::shared_ptr<LiveRecording> live;  // null: it is closed
  std::unique_ptr<Leases::Lease> lease;

  // That can be read now.
  uint64_t blocks() const { return live == nullptr ? recording.manifest.blocks : live->written(); }
};

TransferOp OpOf(const Open& open, const services::Channel& channel) {
  if (open.op_chosen) return open.op;
  return channel.op_chosen ? channel.op : TransferOp::kWrite;
}

// Beside its writer, which keeps the recording from being deleted until this lease does. None if
// nobody writes it any more.
std::optional<Playable> FindGrowing(NodeParts& parts, const FoundRecording& found) {
  const std::string name = found.name.ToString();
  auto live = parts.live.Find(name);
  if (live == nullptr) return std::nullopt;
  auto lease = parts.leases->TakeBeside(name);
  if (lease == nullptr || live->closed() != nullptr) return std::nullopt;
  return Playable{.recording = found, .live = std::move(live), .lease = std::move(lease)};
}

absl::StatusOr<Playable> FindPlayable(NodeParts& parts, const std::string& name, bool follow) {
  TD_ASSIGN_OR_RETURN(FoundRecording found, FindRecording(parts, name));
  if (follow) {
    auto growing = FindGrowing(parts, found);
    if (growing.has_value()) return *std::move(growing);
  }
  auto lease = parts.leases->TakeShared(name);
  if (lease == nullptr) {
    return Busy(found,
                "is still being written (--follow plays it as it grows), or is being deleted");
  }
  // Only under the lease is it sure that it stays.
  TD_ASSIGN_OR_RETURN(found, FindRecording(parts, name));
  if (found.manifest.state == services::RecordingState::kRecording) {
    return Busy(found, "was not closed yet; try again");
  }
  return Playable{.recording = std::move(found), .lease = std::move(lease)};
}

// Of a stream, the segment that has the sample or time asked for.
absl::StatusOr<Playable> FindInStream(NodeParts& parts, const Open& open) {
  const Playhead& playhead = open.playhead;
  TD_ASSIGN_OR_RETURN(const FoundRecording named, FindRecording(parts, open.recording));
  TD_ASSIGN_OR_RETURN(const auto segments, SegmentsOf(parts, named.name, named.manifest));
  if (segments.empty() || playhead.unit == Playhead::Unit::kBlock) {
    return FindPlayable(parts, open.recording, playhead.follow);
  }
  size_t found = 0;
  for (size_t end = segments.size(); end - found > 1;) {
    const size_t middle = found + (end - found) / 2;
    const auto playable = FindPlayable(parts, segments[middle].name.ToString(), playhead.follow);
    // Not closed: among the newest. Gone: among the oldest.
    bool after = !absl::IsNotFound(playable.status());
    if (playable.ok()) {
      const FoundRecording& recording = playable->recording;
      TD_ASSIGN_OR_RETURN(after,
                          BeginsAfter(*recording.lun->store, recording.path(), recording.manifest,
                                      playable->blocks(), playhead, *parts.settings.clock));
    }
    (after ? end : found) = middle;
  }
  return FindPlayable(parts, segments[found].name.ToString(), playhead.follow);
}

absl::StatusOr<std::unique_ptr<dataplane::Source>> OpenReader(
    NodeParts& parts, Playable playable, uint64_t first, const Playhead& playhead,
    std::shared_ptr<dataplane::SlotPool> ring, dataplane::Executor& executor) {
  const FoundRecording& found = playable.recording;
  TD_ASSIGN_OR_RETURN(auto files, found.lun->store->OpenRecording(found.path(), executor));
  ReaderOptions options{.name = found.name.ToString(),
                        .manifest = found.manifest,
                        .ring = std::move(ring),
                        .first = first,
                        .live = playable.live,
                        .behind_ns = playhead.behind_ns};
  // A memory store lends its blocks themselves.
  if (found.lun->config.store != services::StoreKind::kMemory) {
    options.follow_memory = parts.follow_memory;
  }
  options.lease = std::make_shared<Playable>(std::move(playable));
  return std::make_unique<RecordingReader>(std::move(options), std::move(files), executor);
}

// The next segment was deleted to make room: what is missing is not known.
absl::Status Overtaken(const ResourceName& last, uint64_t number) {
  return services::WithReason(absl::DataLossError(absl::StrCat(
                                  "play ", last.ToString(), " and what follows: segment ", number,
                                  " was deleted before it was reached; keep what shall "
                                  "be played (tapectl keep), or play closer behind")),
                              "RECORDING_NOT_FOUND", {{"recording", last.ToString()}});
}

// Opens one segment after the other; null after the last.
class NextSegment {
 public:
  NextSegment(NodeParts& parts, const FoundRecording& first, const Playhead& playhead,
              std::shared_ptr<RingWakers> wakers, dataplane::Executor& executor)
      : parts_(parts),
        last_(first),
        playhead_(playhead),
        wakers_(std::move(wakers)),
        executor_(executor) {}

  absl::StatusOr<std::unique_ptr<dataplane::Source>> operator()() {
    TD_ASSIGN_OR_RETURN(const auto segments, SegmentsOf(parts_, last_.name, last_.manifest));
    const uint64_t number = SegmentNumber(last_.manifest) + 1;
    const auto next = std::ranges::lower_bound(segments, number, {}, &StreamSegment::number);
    if (next == segments.end()) return nullptr;
    if (next->number != number) return Overtaken(last_.name, number);
    auto playable = FindPlayable(parts_, next->name.ToString(), playhead_.follow);
    // Without --follow the stream ends before what is being written. One that was made ahead and
    // never used goes when the stream ends.
    const bool newest = std::next(next) == segments.end();
    if (absl::IsFailedPrecondition(playable.status())) return nullptr;
    if (absl::IsNotFound(playable.status())) {
      if (newest) return nullptr;
      return Overtaken(last_.name, number);
    }
    TD_RETURN_IF_ERROR(playable.status());
    last_ = playable->recording;
    return OpenReader(parts_, *std::move(playable), 0, playhead_, wakers_->Share(), executor_);
  }

 private:
  NodeParts& parts_;
  FoundRecording last_;
  const Playhead playhead_;
  const std::shared_ptr<RingWakers> wakers_;
  dataplane::Executor& executor_;
};

}  // namespace

absl::StatusOr<Admission> AdmitPlayback(NodeParts& parts, const Open& open,
                                        dataplane::Executor& executor) {
  const Playhead& playhead = open.playhead;
  TD_ASSIGN_OR_RETURN(Playable playable,
                      playhead.stream ? FindInStream(parts, open)
                                      : FindPlayable(parts, open.recording, playhead.follow));
  const FoundRecording found = playable.recording;
  const format::Manifest& manifest = found.manifest;
  TD_ASSIGN_OR_RETURN(const services::Channel channel, FindChannel(parts, found.name));
  TD_RETURN_IF_ERROR(CheckSlots(open, manifest.block_bytes));
  TD_ASSIGN_OR_RETURN(const uint64_t first,
                      FindStart(*found.lun->store, found.path(), manifest, playable.blocks(),
                                playhead, *parts.settings.clock));
  const TransferOp op = OpOf(open, channel);
  TD_ASSIGN_OR_RETURN(auto fitted, MakeSessionRing(parts.settings, *found.lun, manifest.block_bytes,
                                                   /*playback=*/true, op));
  const bool known = playable.live == nullptr && !playhead.stream;
  Admission admission{.ring = fitted.ring,
                      .accept = {.recording = found.name.ToString(),
                                 .datatype = manifest.datatype,
                                 .sample_rate = manifest.sample_rate,
                                 .op = op,
                                 .commit = channel.commit,
                                 .block_bytes = manifest.block_bytes,
                                 .blocks = known ? manifest.blocks - first : 0,
                                 .first_block = first,
                                 .labels = manifest.labels},
                      .registration = std::move(fitted.registration)};
  const auto wakers = std::make_shared<RingWakers>(std::move(fitted.ring));
  TD_ASSIGN_OR_RETURN(admission.source, OpenReader(parts, std::move(playable), first, playhead,
                                                   wakers->Share(), executor));
  if (playhead.stream) {
    admission.source = std::make_unique<StreamSource>(
        std::move(admission.source), NextSegment(parts, found, playhead, wakers, executor));
  }
  return admission;
}

}  // namespace tapedeck::storage_node
