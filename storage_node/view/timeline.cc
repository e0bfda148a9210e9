#include <algorithm>
#include <optional>
#include <utility>

#include "dataplane/status_macros.h"
#include "services/model/recording/sample_time.h"
#include "storage_node/format/sigmf.h"
#include "storage_node/view/views.h"

namespace tapedeck::storage_node::view {
namespace {

using services::Annotation;
using services::CaptureStart;
using services::SampleSpan;

std::optional<double> FrequencyIn(const Annotation& annotation) {
  if (!services::model::IsMark(annotation, format::kSignalLabel)) return std::nullopt;
  const auto fields = format::SignalFields(annotation.comment);
  const auto found = fields.find("frequency");
  return found == fields.end() ? std::nullopt : std::optional(found->second);
}

// Where runs of blocks begin, as they say themselves.
absl::StatusOr<std::vector<CaptureStart>> ReadStarts(Opened& opened) {
  format::Manifest manifest = opened.manifest();
  manifest.blocks = opened.extent().blocks;  // of one that is being written, so far
  std::vector<uint64_t> runs = format::SigmfRunsOf(manifest);
  // One that is gone on with may know of gaps before it has its blocks again.
  std::erase_if(runs, [&](uint64_t run) { return run >= manifest.blocks; });
  if (runs.size() > services::kMostCaptures) runs.resize(services::kMostCaptures);
  TD_ASSIGN_OR_RETURN(const auto entries, opened.EntriesOf(runs));
  std::vector<CaptureStart> starts;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!entries[i].ok()) continue;
    starts.push_back({.sample = runs[i] * opened.extent().block_samples,
                      .stream_sample = entries[i]->sample_index});
  }
  return starts;
}

// Which sample of the recording a sample of the stream is.
std::optional<uint64_t> PlaceOf(const std::vector<CaptureStart>& starts, uint64_t stream_sample,
                                uint64_t samples) {
  const auto after =
      std::ranges::upper_bound(starts, stream_sample, {}, &CaptureStart::stream_sample);
  if (after == starts.begin()) return std::nullopt;
  const CaptureStart& start = *std::prev(after);
  const uint64_t since = stream_sample - start.stream_sample;
  if (since >= samples - start.sample) return std::nullopt;
  return start.sample + since;
}

// Which sample of the stream one of the recording is, which lies behind one of the starts.
uint64_t StreamSampleOf(const std::vector<CaptureStart>& starts, uint64_t sample) {
  const CaptureStart* before = &starts.front();
  for (const CaptureStart& start : starts) {
    if (start.sample <= sample && start.sample >= before->sample) before = &start;
  }
  return before->stream_sample + (sample - before->sample);
}

// Which frequency holds at a sample of the stream; 0: unknown.
double HeldAt(const std::vector<Annotation>& annotations, uint64_t stream_sample) {
  uint64_t told_at = 0;
  double held = 0;
  for (const Annotation& one : annotations) {
    const auto frequency = FrequencyIn(one);
    if (!frequency.has_value() || one.sample_start > stream_sample) continue;
    if (one.sample_start < told_at) continue;
    told_at = one.sample_start;
    held = *frequency;
  }
  return held;
}

// Captures where the frequency changes, and the frequency of those that are there; and the time of
// each. `held`: before the first.
void AddFrequencies(const std::vector<Annotation>& placed, double held,
                    services::Timeline* timeline) {
  std::vector<CaptureStart> captures = std::exchange(timeline->captures, {});
  for (const Annotation& one : placed) {
    const auto frequency = FrequencyIn(one);
    if (!frequency.has_value()) continue;
    const auto there = std::ranges::find(captures, one.sample_start, &CaptureStart::sample);
    if (there != captures.end()) {
      there->frequency = *frequency;
    } else if (captures.size() < services::kMostCaptures) {
      captures.push_back({.sample = one.sample_start,
                          .stream_sample = StreamSampleOf(captures, one.sample_start),
                          .frequency = *frequency});
    }
  }
  std::ranges::sort(captures, {}, &CaptureStart::sample);
  for (CaptureStart& capture : captures) {
    if (capture.frequency == 0) capture.frequency = held;
    held = capture.frequency;
    capture.time_ns =
        services::model::TimeAfter(timeline->start_time_ns, capture.sample, timeline->sample_rate);
    timeline->captures.push_back(capture);
  }
}

std::vector<SampleSpan> GapsOf(const Opened& opened) {
  std::vector<SampleSpan> gaps;
  const Extent& extent = opened.extent();
  for (const format::SequenceRange& range : opened.manifest().missing) {
    if (gaps.size() == services::kMostGaps || range.first >= extent.blocks) break;
    const uint64_t first = range.first * extent.block_samples;
    const uint64_t count = range.count * extent.block_samples;
    gaps.push_back({.first = first, .count = std::min(count, extent.samples - first)});
  }
  return gaps;
}

}  // namespace

double FrequencyOf(const std::vector<Annotation>& annotations) {
  for (const Annotation& one : annotations) {
    if (const auto frequency = FrequencyIn(one)) return *frequency;
  }
  return 0;
}

absl::StatusOr<double> FrequencyAt(Opened& opened, uint64_t sample) {
  const std::vector<Annotation> annotations = opened.annotations();
  if (FrequencyOf(annotations) == 0) return 0;
  TD_ASSIGN_OR_RETURN(const std::vector<CaptureStart> starts, ReadStarts(opened));
  if (starts.empty()) return 0;
  const uint64_t first = std::max(sample, starts.front().sample);
  return HeldAt(annotations, StreamSampleOf(starts, first));
}

absl::StatusOr<services::Timeline> MakeTimeline(Opened& opened) {
  const Extent& extent = opened.extent();
  const format::Manifest& manifest = opened.manifest();
  const auto& live = opened.readable().live;
  const std::vector<Annotation> annotations = opened.annotations();
  const uint64_t durable = live == nullptr ? manifest.durable_watermark : live->durable.load();
  services::Timeline made{
      .state = live == nullptr ? manifest.state : services::RecordingState::kRecording,
      .samples = extent.samples,
      .sample_rate = manifest.sample_rate,
      .frequency = FrequencyOf(annotations),
      .datatype = format::SampleTypeOf(manifest),
      .start_time_ns = manifest.start_time_ns,
      .durable_samples =
          std::min(std::min(durable, extent.blocks) * extent.block_samples, extent.samples),
      .gaps = GapsOf(opened),
      .gaps_total = manifest.missing.size(),
      .annotations_total = annotations.size(),
      .block_samples = extent.block_samples};
  TD_ASSIGN_OR_RETURN(made.captures, ReadStarts(opened));
  std::vector<Annotation> placed;
  for (const Annotation& one : annotations) {
    const auto place = PlaceOf(made.captures, one.sample_start, extent.samples);
    if (!place.has_value()) continue;
    placed.push_back(one);
    placed.back().sample_start = *place;
    placed.back().sample_count = std::min(one.sample_count, extent.samples - *place);
  }
  if (!made.captures.empty()) {
    const double held = HeldAt(annotations, made.captures.front().stream_sample);
    if (held != 0) made.frequency = held;
    AddFrequencies(placed, held, &made);
  }
  if (placed.size() > services::kMostAnnotations) placed.resize(services::kMostAnnotations);
  made.annotations = std::move(placed);
  return made;
}

}  // namespace tapedeck::storage_node::view
