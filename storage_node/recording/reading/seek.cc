#include "storage_node/recording/reading/seek.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/part.h"
#include "storage_node/format/sigmf.h"
#include "storage_node/recording/await_block.h"

namespace tapedeck::storage_node::recording {
namespace {

using services::model::Playhead;

// One search, on the calling thread.
class Seek {
 public:
  Seek(std::unique_ptr<store::RecordingFiles> files, const format::Manifest& manifest,
       CallerLoop& loop)
      : loop_(loop), files_(std::move(files)), index_(*files_, manifest.entries(), [] {}) {}

  // The last block below `blocks` that does not begin after `target`; 0 if all do.
  uint64_t Find(Playhead::Unit unit, int64_t target, uint64_t blocks);
  // Blocks that cannot be read are passed over.
  std::optional<format::IndexEntry> FirstFrom(uint64_t sequence, uint64_t end);

 private:
  CallerLoop& loop_;
  const std::unique_ptr<store::RecordingFiles> files_;
  index::IndexReader index_;
};

std::optional<format::IndexEntry> Seek::FirstFrom(uint64_t sequence, uint64_t end) {
  for (; sequence < end; ++sequence) {
    const auto& entry = AwaitEntry(loop_, index_, sequence);
    if (entry.ok()) return *entry;
  }
  return std::nullopt;
}

bool IsAfter(const format::IndexEntry& entry, Playhead::Unit unit, int64_t target) {
  return unit == Playhead::Unit::kSample ? entry.sample_index > static_cast<uint64_t>(target)
                                         : entry.capture_ns > target;
}

uint64_t Seek::Find(Playhead::Unit unit, int64_t target, uint64_t blocks) {
  uint64_t found = 0;
  for (uint64_t end = blocks; end - found > 1;) {
    const uint64_t middle = found + (end - found) / 2;
    const auto entry = FirstFrom(middle, end);
    if (!entry.has_value() || IsAfter(*entry, unit, target)) {
      end = middle;
    } else {
      found = entry->sequence;
    }
  }
  return found;
}

// Which sample of the recording, or in a part of the whole, was captured then; none: its start or
// rate is unknown, and of one that is written the stamps of its blocks have to do. Before the
// start: the first.
std::optional<uint64_t> SampleAt(const format::Manifest& manifest, int64_t time_ns) {
  if (!manifest.start_time_ns.has_value() || manifest.sample_rate <= 0) return std::nullopt;
  if (time_ns <= *manifest.start_time_ns) return 0;
  const long double since_ns =
      static_cast<long double>(time_ns) - static_cast<long double>(*manifest.start_time_ns);
  // Half a nanosecond: times are told to the nearest.
  const long double samples =
      (since_ns + 0.5L) * static_cast<long double>(manifest.sample_rate) / 1e9L;
  constexpr auto kMost = static_cast<long double>(INT64_MAX);
  return samples < kMost ? static_cast<uint64_t>(samples) : uint64_t{INT64_MAX};
}

absl::Status NoTimes(const format::Manifest& manifest) {
  const bool rate = manifest.sample_rate > 0;
  return services::ArgumentInvalid(
      "playhead.start",
      absl::StrCat("recording ", manifest.id, " has no ", rate ? "known start" : "sample rate",
                   ", and so no times; start at a sample or a block"));
}

absl::Status AfterTheEnd(const format::Manifest& manifest) {
  return services::ArgumentInvalid(
      "playhead.start",
      absl::StrCat("recording ", manifest.id, " ends before that time; give an earlier time"));
}

// Up to its end; to that of its last block where blocks are missing, or it is being written.
uint64_t SamplesOf(const format::Manifest& manifest, uint64_t blocks, uint64_t block_samples) {
  const bool is_whole = manifest.state != services::RecordingState::kRecording &&
                        manifest.missing_blocks() == 0 && blocks == manifest.blocks;
  return is_whole ? manifest.bytes / (manifest.block_bytes / block_samples)
                  : blocks * block_samples;
}

absl::Status BeyondTheEnd(const format::Manifest& manifest, int64_t start, uint64_t blocks) {
  return services::ArgumentInvalid(
      "playhead.start", absl::StrCat("start ", start, ": recording ", manifest.id, " has ", blocks,
                                     " blocks, from 0"));
}

}  // namespace

absl::StatusOr<uint64_t> FindStart(store::Store& store, const store::RecordingPath& path,
                                   const format::Manifest& manifest, uint64_t blocks,
                                   const Playhead& playhead, const dataplane::Clock& clock) {
  const bool begins_by_time = playhead.unit == Playhead::Unit::kTime;  // which may lie before 1970
  if (playhead.start <= 0 && !begins_by_time) return 0;
  if (playhead.unit == Playhead::Unit::kBlock) {
    const auto start = static_cast<uint64_t>(playhead.start);
    if (start < blocks) return start;
    if (playhead.follow) return blocks;
    return BeyondTheEnd(manifest, playhead.start, blocks);
  }
  const auto sample =
      begins_by_time ? SampleAt(manifest, playhead.start) : std::optional<uint64_t>();
  const uint64_t block_samples = format::BlockSamplesOf(manifest);
  const bool is_part = manifest.part.has_value();
  if (begins_by_time && !sample.has_value() && !playhead.follow) return NoTimes(manifest);
  if (sample.has_value() && block_samples > 0 && !is_part) {
    const bool ends = !playhead.follow && !playhead.stream;
    if (ends && *sample >= SamplesOf(manifest, blocks, block_samples)) return AfterTheEnd(manifest);
    return blocks == 0 ? 0 : std::min(*sample / block_samples, blocks - 1);
  }
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(auto files, store.Open(path, {}, loop));
  Seek seek(std::move(files), manifest, loop);
  if (!sample.has_value()) return seek.Find(playhead.unit, playhead.start, blocks);
  return seek.Find(Playhead::Unit::kSample, static_cast<int64_t>(*sample), blocks);
}

absl::StatusOr<bool> BeginsAfter(store::Store& store, const store::RecordingPath& path,
                                 const format::Manifest& manifest, uint64_t blocks,
                                 const Playhead& playhead, const dataplane::Clock& clock) {
  if (playhead.unit == Playhead::Unit::kTime && manifest.start_time_ns.has_value()) {
    return *manifest.start_time_ns > playhead.start;
  }
  TD_ASSIGN_OR_RETURN(const auto first, FirstEntry(store, path, manifest, blocks, clock));
  // Nothing is there yet: it is the newest.
  return !first.has_value() || IsAfter(*first, playhead.unit, playhead.start);
}

absl::StatusOr<std::optional<format::IndexEntry>> FirstEntry(store::Store& store,
                                                             const store::RecordingPath& path,
                                                             const format::Manifest& manifest,
                                                             uint64_t blocks,
                                                             const dataplane::Clock& clock) {
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(auto files, store.Open(path, {}, loop));
  return Seek(std::move(files), manifest, loop).FirstFrom(0, blocks);
}

}  // namespace tapedeck::storage_node::recording
