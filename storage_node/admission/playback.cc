#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/admission/session_plan.h"
#include "storage_node/admission/session_ring.h"
#include "storage_node/capture/ring_share.h"
#include "storage_node/capture/stream_source.h"
#include "storage_node/format/sigmf.h"
#include "storage_node/recording/reading/recording_reader.h"
#include "storage_node/recording/reading/seek.h"
#include "storage_node/recordings/readable.h"
#include "storage_node/recordings/stream_segments.h"

namespace tapedeck::storage_node::admission {
namespace {

using dataplane::TransferOp;
using dataplane::ladder::FittedRing;
using recordings::SegmentsOf;
using recordings::SegmentsThere;
using recordings::StreamSegment;
using services::model::Playhead;
using services::session::Accept;
using services::session::Admission;
using services::session::Open;

struct Playable : recordings::Readable {
  dataplane::flight::Trail trail;
};

// By a reader.
struct Played : recording::Hold {
  explicit Played(Playable held) : playable(std::move(held)) {}
  const Playable playable;
};

TransferOp OpOf(const Open& open, const services::Channel& channel) {
  return open.op.value_or(channel.op.value_or(TransferOp::kWrite));
}

absl::StatusOr<Playable> FindPlayable(NodeResources& resources, const std::string& name,
                                      bool follow) {
  TD_ASSIGN_OR_RETURN(recordings::Readable found,
                      recordings::FindReadable(resources.recordings, name, follow));
  return Playable{std::move(found)};
}

struct FoundInStream {
  Playable playable;
  bool newest = false;  // no segment follows
};

// Of a stream, the segment that has the sample or time asked for.
absl::StatusOr<FoundInStream> FindInStream(NodeResources& resources, const Open& open) {
  const Playhead& playhead = open.playhead;
  TD_ASSIGN_OR_RETURN(const recordings::FoundRecording named,
                      resources.recordings.Find(open.recording));
  TD_ASSIGN_OR_RETURN(const auto segments,
                      SegmentsOf(resources.recordings, named.name, named.manifest.stream));
  if (segments.empty() || playhead.unit == Playhead::Unit::kBlock) {
    TD_ASSIGN_OR_RETURN(auto playable, FindPlayable(resources, open.recording, playhead.follow));
    return FoundInStream{.playable = std::move(playable), .newest = segments.empty()};
  }
  size_t found = 0;
  for (size_t end = segments.size(); end - found > 1;) {
    const size_t middle = found + (end - found) / 2;
    const auto playable =
        FindPlayable(resources, segments[middle].name.ToString(), playhead.follow);
    // Not closed: among the newest. Gone: among the oldest.
    bool after = !absl::IsNotFound(playable.status());
    if (playable.ok()) {
      const recordings::FoundRecording& recording = playable->recording;
      TD_ASSIGN_OR_RETURN(
          after, recording::BeginsAfter(*recording.lun->store, recording.path(), recording.manifest,
                                        playable->blocks(), playhead, resources.luns.clock()));
    }
    (after ? end : found) = middle;
  }
  TD_ASSIGN_OR_RETURN(auto playable,
                      FindPlayable(resources, segments[found].name.ToString(), playhead.follow));
  return FoundInStream{.playable = std::move(playable), .newest = found + 1 == segments.size()};
}

absl::StatusOr<FoundInStream> Find(NodeResources& resources, const Open& open) {
  if (open.playhead.stream) return FindInStream(resources, open);
  TD_ASSIGN_OR_RETURN(auto playable, FindPlayable(resources, open.recording, open.playhead.follow));
  return FoundInStream{.playable = std::move(playable), .newest = true};
}

// Opens the files; the reader takes its slots from `wakers` once it is made.
absl::StatusOr<capture::StreamSource::OpenReader> OpenFiles(
    NodeResources& resources, Playable playable, uint64_t first, const Playhead& playhead,
    std::shared_ptr<capture::RingWakers> wakers, dataplane::Executor& executor) {
  const recordings::FoundRecording& found = playable.recording;
  TD_ASSIGN_OR_RETURN(auto files, found.lun->store->Open(found.path(), {}, executor));
  recording::ReaderOptions options{.name = found.name.ToString(),
                                   .manifest = found.manifest,
                                   .first = first,
                                   .live = playable.live,
                                   .behind_ns = playhead.behind_ns,
                                   .meter = found.lun->meter,
                                   .checks = resources.checks,
                                   .trail = playable.trail};
  if (!found.lun->kind.capabilities.lends_blocks) {
    options.follow_memory = resources.follow_memory;
    options.damaged_blocks = playhead.damaged_blocks;
  }
  options.lease = std::make_shared<Played>(std::move(playable));
  return [options = std::move(options), files = std::move(files), wakers = std::move(wakers),
          &executor]() mutable -> std::unique_ptr<dataplane::Source> {
    options.ring = wakers->Share();
    return std::make_unique<recording::RecordingReader>(std::move(options), std::move(files),
                                                        executor);
  };
}

// The next segment was deleted to make room while the playback went on.
absl::Status Overtaken(const catalog::ResourceName& last, uint64_t number) {
  return services::RecordingNotFound(
      last.ToString(),
      absl::StrCat("play ", last.ToString(), " and what follows: segment ", number,
                   " was deleted before the player reached it; keep it first (tapectl keep), or "
                   "play with less delay"),
      absl::StatusCode::kDataLoss);
}

// Opens one segment after the other; null after the last. On the LUN's queue.
class NextSegment {
 public:
  NextSegment(NodeResources& resources, const recordings::FoundRecording& first,
              SegmentsThere there, const Playhead& playhead,
              std::shared_ptr<capture::RingWakers> wakers, dataplane::Executor& executor)
      : resources_(resources),
        last_(first),
        number_(first.manifest.segment + 1),
        there_(std::move(there)),
        playhead_(playhead),
        wakers_(std::move(wakers)),
        executor_(executor) {}

  absl::StatusOr<capture::StreamSource::OpenReader> Open() {
    if (number_ > there_.end()) return nullptr;
    TD_ASSIGN_OR_RETURN(const auto segments,
                        SegmentsOf(resources_.recordings, last_.name, last_.manifest.stream));
    const auto next = std::ranges::lower_bound(segments, number_, {}, &StreamSegment::number);
    if (next == segments.end()) return nullptr;
    if (next->number != number_) return OpenGone(next->number);
    auto playable = FindPlayable(resources_, next->name.ToString(), playhead_.follow);
    // Without --follow the stream ends before what is being written. One that was made ahead and
    // never used goes when the stream ends.
    const bool newest = std::next(next) == segments.end();
    if (absl::IsFailedPrecondition(playable.status())) return nullptr;
    if (absl::IsNotFound(playable.status())) {
      if (newest) return nullptr;
      return Overtaken(last_.name, number_);
    }
    TD_RETURN_IF_ERROR(playable.status());
    last_ = playable->recording;
    ++number_;
    return OpenFiles(resources_, *std::move(playable), 0, playhead_, wakers_, executor_);
  }

  // Asks the queue.
  static void Ask(const std::shared_ptr<NextSegment>& next,
                  capture::StreamSource::OnOpened opened) {
    next->resources_.luns.queues()
        .Of(next->last_.name.lun)
        ->Run([next, opened = std::move(opened)] {
          next->executor_.Post(
              [result = next->Open(), opened]() mutable { opened(std::move(result)); });
        });
  }

 private:
  // What was gone before the playback began is missing, with the end that the segment before it
  // lacks. The last segment is still held. Where most is gone, or its place is not known, nothing
  // stands for it.
  absl::StatusOr<capture::StreamSource::OpenReader> OpenGone(uint64_t next) {
    const uint64_t gone = next - number_;
    if (!there_.None(number_, next) || gone > there_.count()) return Overtaken(last_.name, number_);
    const format::Manifest& manifest = last_.manifest;
    TD_ASSIGN_OR_RETURN(const auto entry,
                        recording::FirstEntry(*last_.lun->store, last_.path(), manifest,
                                              manifest.blocks, resources_.luns.clock()));
    const uint64_t samples = format::BlockSamplesOf(manifest);
    const bool placed = entry.has_value() && samples > 0 && manifest.blocks > 0 &&
                        manifest.blocks <= manifest.segment_blocks;
    if (!placed) return Overtaken(last_.name, number_);
    const uint64_t lacking = manifest.segment_blocks - manifest.blocks;
    const uint64_t blocks = lacking + gone * manifest.segment_blocks;
    const uint64_t first_sample =
        entry->sample_index + (manifest.blocks - entry->sequence) * samples;
    number_ = next;
    return [blocks, first_sample, samples]() -> std::unique_ptr<dataplane::Source> {
      return std::make_unique<capture::GoneBlocks>(blocks, first_sample, samples);
    };
  }

  NodeResources& resources_;
  recordings::FoundRecording last_;
  uint64_t number_;  // of the segment that is next
  const SegmentsThere there_;
  const Playhead playhead_;
  const std::shared_ptr<capture::RingWakers> wakers_;
  dataplane::Executor& executor_;
};

std::unique_ptr<dataplane::Source> MakeStream(NodeResources& resources,
                                              const recordings::FoundRecording& first,
                                              SegmentsThere there, const Playhead& playhead,
                                              capture::StreamSource::OpenReader& open,
                                              const std::shared_ptr<capture::RingWakers>& wakers,
                                              dataplane::Executor& executor) {
  auto next =
      std::make_shared<NextSegment>(resources, first, std::move(there), playhead, wakers, executor);
  return std::make_unique<capture::StreamSource>(open(), /*ahead=*/!playhead.follow,
                                                 [next](capture::StreamSource::OnOpened opened) {
                                                   NextSegment::Ask(next, std::move(opened));
                                                 });
}

Accept AcceptOf(const recordings::FoundRecording& found, const services::Channel& channel,
                const Open& open, uint64_t first, bool known) {
  const format::Manifest& manifest = found.manifest;
  return {.recording = found.name.ToString(),
          .datatype = manifest.datatype,
          .sample_rate = manifest.sample_rate,
          .op = OpOf(open, channel),
          .commit = channel.commit,
          .block_bytes = manifest.block_bytes,
          .blocks = known ? manifest.blocks - first : 0,
          .first_block = first,
          .labels = manifest.labels};
}

absl::StatusOr<MakeAdmission> OpenPlayback(NodeResources& resources,
                                           const recordings::FoundRecording& found,
                                           Playable playable, const Playhead& playhead,
                                           uint64_t first, Accept accept, FittedRing fitted,
                                           dataplane::Executor& executor) {
  const auto wakers = std::make_shared<capture::RingWakers>(fitted.ring);
  TD_ASSIGN_OR_RETURN(auto reader,
                      OpenFiles(resources, std::move(playable), first, playhead, wakers, executor));
  TD_ASSIGN_OR_RETURN(SegmentsThere there,
                      SegmentsThere::Of(resources.recordings, found, playhead));
  return [&resources, &executor, found, there = std::move(there), playhead, wakers,
          accept = std::move(accept), fitted = std::move(fitted),
          reader = std::move(reader)]() mutable {
    return Admission{.source = playhead.stream ? MakeStream(resources, found, std::move(there),
                                                            playhead, reader, wakers, executor)
                                               : reader(),
                     .ring = std::move(fitted.ring),
                     .accept = std::move(accept),
                     .registration = std::move(fitted.registration)};
  };
}

}  // namespace

absl::StatusOr<SessionPlan> PlanPlayback(NodeResources& resources, const Open& open,
                                         dataplane::Executor& executor) {
  const Playhead& playhead = open.playhead;
  TD_ASSIGN_OR_RETURN(FoundInStream begin, Find(resources, open));
  Playable playable = std::move(begin.playable);
  playable.trail = dataplane::flight::Trail(open.trail);
  const recordings::FoundRecording found = playable.recording;
  const format::Manifest& manifest = found.manifest;
  TD_ASSIGN_OR_RETURN(const services::Channel channel,
                      resources.recordings.FindChannel(found.name));
  TD_RETURN_IF_ERROR(CheckSlots(open, manifest.block_bytes));
  Playhead within = playhead;
  within.stream = playhead.stream && !begin.newest;
  TD_ASSIGN_OR_RETURN(const uint64_t first,
                      recording::FindStart(*found.lun->store, found.path(), manifest,
                                           playable.blocks(), within, resources.luns.clock()));
  const bool known = playable.live == nullptr && !playhead.stream;
  Accept accept = AcceptOf(found, channel, open, first, known);
  RingNeed ring{
      .lun = found.lun, .block_bytes = manifest.block_bytes, .playback = true, .op = accept.op};
  return SessionPlan{
      .ring = std::move(ring),
      .open = [&resources, &executor, found, playhead, first, playable = std::move(playable),
               accept = std::move(accept)](FittedRing fitted) mutable {
        return OpenPlayback(resources, found, std::move(playable), playhead, first,
                            std::move(accept), std::move(fitted), executor);
      }};
}

}  // namespace tapedeck::storage_node::admission
