#include "services/rpc/client/stream_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services::client {
namespace {

using Part = StreamView::Part;
using Extent = StreamView::Extent;

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

// What of a part lies in the span.
Part Cut(const Part& part, const SampleSpan& span) {
  const uint64_t first = std::max(part.span.first, span.first);
  const uint64_t end = std::max(first, std::min(part.span.end(), span.end()));
  return {.segment = part.segment,
          .span = {.first = first, .count = end - first},
          .skipped = part.skipped + (first - part.span.first)};
}

absl::StatusOr<SampleSpan> Resolve(const Extent& extent, const SampleSpan& asked) {
  const uint64_t after = extent.samples - std::min(extent.samples, asked.first);
  if (after == 0 || asked.count > after) {
    return ArgumentInvalid(after == 0 ? "first_sample" : "sample_count",
                           absl::StrCat("the stream has ", extent.samples, " samples, and ",
                                        asked.count, " from ", asked.first, " on were asked for"));
  }
  return SampleSpan{.first = asked.first, .count = asked.count == 0 ? after : asked.count};
}

// Rows of a picture whose middles lie in one part, and all of it that lies in the span: the first
// and the last of them show up to half a row more, or less, than the others.
struct Band {
  uint32_t rows = 0;
  Part part;
};

std::vector<Band> BandsOf(const Extent& extent, const SampleSpan& span, uint32_t rows) {
  const double per_row = static_cast<double>(span.count) / rows;
  const auto middle_of = [&](uint32_t row) {
    return span.first + static_cast<uint64_t>(per_row * (row + 0.5));
  };
  std::vector<Band> bands;
  auto part = extent.parts.begin();
  for (uint32_t row = 0; row < rows;) {
    while (std::next(part) != extent.parts.end() && part->span.end() <= middle_of(row)) ++part;
    uint32_t next = row + 1;
    while (next < rows && middle_of(next) < part->span.end()) ++next;
    bands.push_back({.rows = next - row, .part = Cut(*part, span)});
    row = next;
  }
  return bands;
}

// `from` has `rows` rows or fewer, of `width` values each.
void Expand(const std::vector<float>& from, uint32_t of_rows, uint32_t rows, uint32_t width,
            std::vector<float>* to) {
  for (uint32_t row = 0; row < rows; ++row) {
    const size_t source = of_rows == 0 ? 0 : size_t{row} * of_rows / rows;
    for (uint32_t i = 0; i < width; ++i) {
      to->push_back(of_rows == 0 ? kNothing : from[source * width + i]);
    }
  }
}

// What one segment's answer says of the stream's, but for its powers.
void Add(const Spectrogram& one, const Band& band, Spectrogram* all) {
  all->bytes_read += one.bytes_read;
  all->damaged_pieces += one.damaged_pieces;
  all->transforms_per_row = std::max(all->transforms_per_row, one.transforms_per_row);
  all->transforms += one.transforms;
  // Samples that are gone hide nothing that a shorter span would show.
  all->covered_samples += one.rows == 0 ? band.part.span.count : one.covered_samples;
  if (one.rows == 0) return;
  all->columns = one.columns;
  all->sample_rate = one.sample_rate;
  all->band_rate = one.band_rate;
  all->bins = one.bins;
  all->complex = one.complex;
  if (all->frequency == 0) all->frequency = one.frequency;
}

// Each segment's mean counts by its transforms.
std::vector<float> MeansOf(const std::vector<Spectrogram>& bands, const Spectrogram& all) {
  std::vector<double> sums(all.columns);
  for (const Spectrogram& one : bands) {
    if (one.transforms == 0 || one.means.size() != sums.size()) continue;
    const auto transforms = static_cast<double>(one.transforms);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] += transforms * std::pow(10.0, one.means[i] / 10.0);
    }
  }
  std::vector<float> means;
  const auto transforms = static_cast<double>(all.transforms);
  for (const double sum : sums) {
    means.push_back(transforms > 0 ? static_cast<float>(10 * std::log10(sum / transforms))
                                   : kNothing);
  }
  return means;
}

bool Touches(const std::vector<CaptureStart>& captures, const CaptureStart& next) {
  if (captures.empty()) return false;
  const CaptureStart& last = captures.back();
  return next.stream_sample - last.stream_sample == next.sample - last.sample &&
         (next.frequency == 0 || next.frequency == last.frequency);
}

// A segment's timeline as a part of the stream's. `joins`: nothing lacks before it.
void Append(const Timeline& one, uint64_t offset, bool joins, Timeline* all) {
  for (SampleSpan gap : one.gaps) {
    gap.first += offset;
    if (all->gaps.size() < kMostGaps) all->gaps.push_back(gap);
  }
  all->gaps_total += one.gaps_total;
  for (CaptureStart capture : one.captures) {
    const bool begins = capture.sample == 0;
    capture.sample += offset;
    if (begins && joins && Touches(all->captures, capture)) continue;
    if (all->captures.size() == kMostCaptures) break;
    all->captures.push_back(capture);
  }
  for (Annotation annotation : one.annotations) {
    annotation.sample_start += offset;
    if (all->annotations.size() < kMostAnnotations) all->annotations.push_back(annotation);
  }
  all->annotations_total += one.annotations_total;
  if (all->frequency == 0) all->frequency = one.frequency;
}

}  // namespace

absl::Status StreamView::LookAgain() {
  TD_ASSIGN_OR_RETURN(Stream now, look_());
  const Recording& oldest = stream_.segments.front();
  if (oldest.name != now.segments.front().name) {
    now.segments.insert(now.segments.begin(), oldest);
  }
  stream_ = std::move(now);
  const std::vector<Recording>& segments = stream_.segments;
  std::erase_if(closed_, [&](const auto& one) {
    return std::ranges::find(segments, one.first, &Recording::name) == segments.end();
  });
  return absl::OkStatus();
}

absl::StatusOr<Timeline> StreamView::TimelineOf(const Recording& segment) {
  const bool closed = segment.state != RecordingState::kRecording;
  const auto known = closed_.find(segment.name);
  if (closed && known != closed_.end()) return known->second;
  absl::StatusOr<Timeline> timeline = view_->GetTimeline(segment.name);
  if (timeline.ok() && timeline->state != RecordingState::kRecording) {
    closed_[segment.name] = *timeline;
  }
  return timeline;
}

absl::StatusOr<Timeline> StreamView::GetTimeline(const std::string& /*recording*/) {
  absl::MutexLock lock(&look_mutex_);
  TD_RETURN_IF_ERROR(LookAgain());
  const StreamLayout layout = model::LayOut(stream_);
  const size_t newest =
      layout.pieces.empty() ? stream_.segments.size() - 1 : layout.pieces.back().segment;
  TD_ASSIGN_OR_RETURN(const Timeline last, TimelineOf(stream_.segments[newest]));
  Timeline all{.state = layout.whole.state,
               .sample_rate = last.sample_rate,
               .datatype = last.datatype,
               .start_time_ns = layout.whole.start_time_ns,
               .block_samples = last.block_samples};
  auto extent = std::make_shared<Extent>(Extent{.datatype = last.datatype});
  for (const StreamPiece& piece : layout.pieces) {
    const Recording& segment = stream_.segments[piece.segment];
    const uint64_t first = piece.first * all.block_samples;
    const bool behind_gap = extent->samples < first;
    if (behind_gap) {
      const SampleSpan gone{extent->samples, first - extent->samples};
      extent->parts.push_back({.span = gone});
      Append({.gaps = {gone}, .gaps_total = 1}, 0, false, &all);
    }
    uint64_t samples = piece.blocks * all.block_samples;
    const bool at_end = &piece == &layout.pieces.back();
    const bool tells = behind_gap || first == 0 || at_end || segment.missing_blocks > 0 ||
                       !segment.annotations.empty();
    if (tells) {
      const absl::StatusOr<Timeline> one = TimelineOf(segment);
      if (!one.ok() && !absl::IsNotFound(one.status())) return one.status();
      if (one.ok()) Append(*one, first, !behind_gap, &all);
      if (one.ok()) samples = std::min(samples, one->samples);
    }
    extent->parts.push_back({.segment = segment.name, .span = {first, samples}});
    extent->samples = first + samples;
  }
  all.samples = extent->samples;
  all.durable_samples = extent->samples;
  absl::MutexLock short_lock(&mutex_);
  extent_ = std::move(extent);
  return all;
}

absl::StatusOr<std::shared_ptr<const StreamView::Extent>> StreamView::ExtentNow() {
  {
    absl::MutexLock lock(&mutex_);
    if (extent_ != nullptr) return extent_;
  }
  TD_RETURN_IF_ERROR(GetTimeline("").status());
  absl::MutexLock lock(&mutex_);
  return extent_;
}

absl::StatusOr<Spectrogram> StreamView::ReadSpectrogram(const SpectrogramRequest& request) {
  TD_ASSIGN_OR_RETURN(const auto extent, ExtentNow());
  TD_ASSIGN_OR_RETURN(const SampleSpan span, Resolve(*extent, request.span));
  const uint32_t most = kMostPowers / std::max(request.columns, 1u);
  Spectrogram all{.columns = request.columns,
                  .rows = std::clamp(request.rows, 1u, std::max(most, 1u)),
                  .span = span};
  all.samples_per_row = static_cast<double>(span.count) / all.rows;
  const std::vector<Band> bands = BandsOf(*extent, span, all.rows);
  std::vector<Spectrogram> seen_bands;
  for (const Band& band : bands) {
    Spectrogram& one = seen_bands.emplace_back();
    if (!band.part.segment.empty() && band.part.span.count > 0) {
      auto seen = view_->ReadSpectrogram({.recording = band.part.segment,
                                          .span = {band.part.skipped, band.part.span.count},
                                          .columns = request.columns,
                                          .rows = band.rows});
      if (!seen.ok() && !absl::IsNotFound(seen.status())) return seen.status();
      if (seen.ok()) one = *std::move(seen);
    }
    Add(one, band, &all);
  }
  for (size_t i = 0; i < bands.size(); ++i) {
    const Spectrogram& one = seen_bands[i];
    const bool fits = one.columns == all.columns;
    Expand(one.powers, fits ? one.rows : 0, bands[i].rows, all.columns, &all.powers);
  }
  all.means = MeansOf(seen_bands, all);
  return all;
}

absl::StatusOr<Samples> StreamView::ReadSamples(const SamplesRequest& request) {
  TD_ASSIGN_OR_RETURN(const auto extent, ExtentNow());
  TD_ASSIGN_OR_RETURN(const SampleSpan span, Resolve(*extent, request.span));
  TD_ASSIGN_OR_RETURN(const auto type, dataplane::ParseDatatype(extent->datatype));
  const size_t sample_bytes =
      request.raw ? type.bytes_per_sample() : sizeof(float) * (type.complex ? 2 : 1);
  Samples all{.span = span, .datatype = extent->datatype};
  for (const Part& part : extent->parts) {
    const Part cut = Cut(part, span);
    if (cut.span.count == 0) continue;
    absl::StatusOr<Samples> one = absl::NotFoundError("gone");
    if (!cut.segment.empty()) {
      one = view_->ReadSamples(
          {.recording = cut.segment, .span = {cut.skipped, cut.span.count}, .raw = request.raw});
    }
    if (!one.ok() && !absl::IsNotFound(one.status())) return one.status();
    if (!one.ok()) {
      all.missing.push_back(cut.span);
      all.bytes.append(cut.span.count * sample_bytes, '\0');
      continue;
    }
    for (SampleSpan missing : one->missing) {
      missing.first = missing.first - cut.skipped + cut.span.first;
      all.missing.push_back(missing);
    }
    all.bytes += one->bytes;
    all.bytes_read += one->bytes_read;
    all.damaged_pieces += one->damaged_pieces;
  }
  return all;
}

absl::StatusOr<Envelope> StreamView::ReadEnvelope(const EnvelopeRequest& request) {
  TD_ASSIGN_OR_RETURN(const auto extent, ExtentNow());
  TD_ASSIGN_OR_RETURN(const SampleSpan span, Resolve(*extent, request.span));
  const auto points =
      static_cast<uint32_t>(std::min<uint64_t>(std::max(request.points, 1u), span.count));
  Envelope all{.span = span, .samples_per_point = static_cast<double>(span.count) / points};
  for (const Band& band : BandsOf(*extent, span, points)) {
    Envelope one;
    if (!band.part.segment.empty() && band.part.span.count > 0) {
      auto seen = view_->ReadEnvelope({.recording = band.part.segment,
                                       .span = {band.part.skipped, band.part.span.count},
                                       .points = band.rows});
      if (!seen.ok() && !absl::IsNotFound(seen.status())) return seen.status();
      if (seen.ok()) one = *std::move(seen);
    }
    const auto seen_points = static_cast<uint32_t>(one.minima.size());
    Expand(one.minima, seen_points, band.rows, 1, &all.minima);
    Expand(one.maxima, seen_points, band.rows, 1, &all.maxima);
    Expand(one.powers, seen_points, band.rows, 1, &all.powers);
    all.bytes_read += one.bytes_read;
    all.damaged_pieces += one.damaged_pieces;
  }
  return all;
}

}  // namespace tapedeck::services::client
