#include "services/formats/io/subject.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/lost.h"
#include "services/signal/vita49/context_history.h"

namespace tapedeck::services::formats {
namespace {

// More begin captures of no file; that the node tells of as many is its bound, too.
constexpr size_t kMaxRuns = 1024;
// What a mark and a meta hold of them is some MB.
constexpr size_t kMaxGaps = 1 << 16;

// Only the last block may be shorter than the others.
uint64_t PayloadBytes(const Recording& recording) {
  const uint64_t block = recording.block_bytes;
  if (recording.state == RecordingState::kRecording) return recording.durable_watermark * block;
  const uint64_t present = recording.blocks - std::min(recording.missing_blocks, recording.blocks);
  const uint64_t short_of = present * block - std::min(recording.bytes, present * block);
  return recording.blocks * block - std::min(short_of, recording.blocks * block);
}

uint64_t SumOf(const std::vector<SampleRange>& ranges) {
  uint64_t sum = 0;
  for (const SampleRange& one : ranges) sum += one.count;
  return sum;
}

// What of the range is in no gap, at the end of `out`.
void AddBesideGaps(SampleRange range, const std::vector<SampleRange>& gaps,
                   std::vector<SampleRange>* out) {
  const uint64_t end = range.first + range.count;
  uint64_t at = range.first;
  for (auto gap = std::ranges::upper_bound(
           gaps, at, {}, [](const SampleRange& one) { return one.first + one.count; });
       gap != gaps.end() && gap->first < end; ++gap) {
    if (gap->first > at) out->push_back({.first = at, .count = gap->first - at});
    at = std::min(end, gap->first + gap->count);
  }
  if (at < end) out->push_back({.first = at, .count = end - at});
}

// Of annotations that stand for several losses each. Segments of a stream have parts of one.
void AddTogether(const Subject& subject, uint64_t begin, const std::vector<SampleRange>& gaps,
                 Losses* losses) {
  const uint64_t end = begin + subject.samples();
  std::map<model::LostTogether, uint64_t> there;  // of the samples among which each lies
  uint64_t first = UINT64_MAX, last = 0;
  for (const Annotation& one : subject.recording.annotations) {
    const auto lost = model::LostTogetherIn(one);
    const uint64_t from = std::max(begin, one.sample_start);
    const uint64_t room = UINT64_MAX - one.sample_start;
    const uint64_t to = std::min(end, one.sample_start + std::min(one.sample_count, room));
    if (!lost.has_value() || from >= to) continue;
    std::vector<SampleRange> beside;
    AddBesideGaps({.first = from - begin, .count = to - from}, gaps, &beside);
    there[*lost] += SumOf(beside);
    first = std::min(first, from - begin);
    last = std::max(last, to - begin);
    losses->around = {.first = first, .count = last - first};
  }
  for (const auto& [lost, samples] : there) {
    const uint64_t elsewhere = lost.end - lost.first - std::min(samples, lost.end - lost.first);
    losses->somewhere += std::min(lost.samples, samples);
    losses->somewhere_least += lost.samples - std::min(lost.samples, elsewhere);
  }
}

}  // namespace

absl::StatusOr<Subject> SubjectOf(const Recording& recording, const Range& range) {
  Subject subject{.recording = recording,
                  .datatype = model::SampleType(recording.origin, recording.datatype)};
  const auto type = dataplane::ParseDatatype(subject.datatype);
  if (!type.ok()) return DatatypeInvalid(subject.datatype, type.status().message());
  subject.type = *type;
  subject.first_sample = range.first;
  const uint64_t all = PayloadBytes(recording);
  const uint64_t samples = all / subject.sample_bytes();
  if (range.first > 0 && range.first >= samples) {
    return ArgumentInvalid(
        "first", absl::StrCat(recording.name, " has ", samples, " samples, none from sample ",
                              range.first, " on"));
  }
  if (range.count > samples - range.first) {
    return ArgumentInvalid(
        "count", absl::StrCat(recording.name, " has ", samples, " samples, and ", range.count,
                              " from sample ", range.first, " on were asked for"));
  }
  // To the end: also the bytes behind its last whole sample.
  subject.bytes =
      range.count == 0 ? all - subject.first_byte() : range.count * subject.sample_bytes();
  return subject;
}

uint64_t Seen::missing_samples() const { return SumOf(gaps); }

uint64_t Seen::first_index() const {
  if (runs.empty()) return 0;
  return runs.front().sample_index - std::min(runs.front().sample, runs.front().sample_index);
}

uint64_t Losses::samples() const { return SumOf(ranges) + somewhere; }

absl::Status AddPiece(const Piece& piece, uint64_t sample_bytes, Seen* seen) {
  const uint64_t first = piece.offset / sample_bytes;
  const uint64_t count = piece.bytes / sample_bytes;
  const bool behind_gap =
      !seen->gaps.empty() && seen->gaps.back().first + seen->gaps.back().count == first;
  if (!piece.data.empty()) {
    if ((first == 0 || behind_gap) && seen->runs.size() < kMaxRuns) {
      seen->runs.push_back({.sample = first, .sample_index = piece.sample_index});
    }
    return absl::OkStatus();
  }
  if (behind_gap) {
    seen->gaps.back().count += count;
    return absl::OkStatus();
  }
  if (seen->gaps.size() == kMaxGaps) {
    return LimitReached(kMaxGaps, "gaps of an export",
                        absl::StrCat("the recording has more than ", kMaxGaps, " gaps"));
  }
  seen->gaps.push_back({.first = first, .count = count});
  return absl::OkStatus();
}

model::SampleTime TimeOf(const Subject& subject, uint64_t sample) {
  const Recording& recording = subject.recording;
  return model::TimeAfter(recording.start_time_ns, subject.first_sample + sample,
                          recording.sample_rate);
}

Frequency FrequencyOf(const Subject& subject, const Seen& seen) {
  if (seen.runs.empty()) return {};
  std::map<uint64_t, double> changes;  // by the sample of the stream
  for (const Annotation& one : subject.recording.annotations) {
    if (!model::IsMark(one, sigmf::kSignalLabel)) continue;
    const auto fields = sigmf::SignalFields(one.comment);
    if (const auto found = fields.find("frequency"); found != fields.end()) {
      changes[one.sample_start] = found->second;
    }
  }
  const sigmf::Run& back = seen.runs.back();
  const uint64_t begin = seen.first_index();
  const uint64_t end = back.sample_index + (subject.samples() - back.sample);
  Frequency frequency;
  for (const auto& [sample, hertz] : changes) {
    if (sample <= begin) {
      frequency.hertz = hertz;
    } else if (sample < end && hertz != frequency.hertz && !frequency.next_hertz.has_value()) {
      frequency.next_hertz = hertz;
      frequency.next_sample = sample - begin;
    }
  }
  return frequency;
}

Losses LossesOf(const Subject& subject, const Seen& seen) {
  Losses losses;
  if (seen.runs.empty()) return losses;
  const vita49::ContextHistory history(subject.recording.annotations);
  const uint64_t begin = seen.first_index();
  const uint64_t end = begin + subject.samples();
  for (uint64_t at = begin; at < end; at = history.LossBehind(at)) {
    const uint64_t behind = std::min(end, history.EndOfLoss(at));
    AddBesideGaps({.first = at - begin, .count = behind - at}, seen.gaps, &losses.ranges);
  }
  AddTogether(subject, begin, seen.gaps, &losses);
  return losses;
}

}  // namespace tapedeck::services::formats
