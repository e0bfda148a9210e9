#include "services/rpc/convert/view.h"

#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "dataplane/little_endian.h"
#include "dataplane/status_macros.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {
namespace {

std::string BytesOf(const std::vector<float>& numbers) {
  std::string bytes(numbers.size() * sizeof(float), '\0');
  auto* at = reinterpret_cast<std::byte*>(bytes.data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    dataplane::PutLittleEndian(at + i * sizeof(float), std::bit_cast<uint32_t>(numbers[i]));
  }
  return bytes;
}

absl::StatusOr<std::vector<float>> NumbersOf(absl::string_view field, const std::string& bytes,
                                             uint64_t count) {
  if (bytes.size() % sizeof(float) != 0 || bytes.size() / sizeof(float) != count) {
    return FieldError(field, "has not as many numbers as it should");
  }
  std::vector<float> numbers(count);
  const auto* at = reinterpret_cast<const std::byte*>(bytes.data());
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = std::bit_cast<float>(dataplane::GetLittleEndian<uint32_t>(at + i * sizeof(float)));
  }
  return numbers;
}

template <typename Message>
SampleSpan SpanOf(const Message& message) {
  return {.first = message.first_sample(), .count = message.sample_count()};
}

// Of a span, and of requests and answers that are about one.
template <typename Message>
void SetSpan(const SampleSpan& span, Message* out) {
  out->set_first_sample(span.first);
  out->set_sample_count(span.count);
}

v1::CaptureStart CaptureToProto(const CaptureStart& capture) {
  v1::CaptureStart out;
  out.set_sample(capture.sample);
  out.set_stream_sample(capture.stream_sample);
  out.set_frequency(capture.frequency);
  if (capture.time_ns.has_value()) *out.mutable_time() = ToTimestamp(*capture.time_ns);
  return out;
}

CaptureStart CaptureOf(const v1::CaptureStart& capture) {
  CaptureStart out{.sample = capture.sample(),
                   .stream_sample = capture.stream_sample(),
                   .frequency = capture.frequency()};
  if (capture.has_time()) out.time_ns = FromTimestamp(capture.time());
  return out;
}

v1::MarkedSpan MarkToProto(const Annotation& annotation) {
  v1::MarkedSpan out;
  out.set_first_sample(annotation.sample_start);
  out.set_sample_count(annotation.sample_count);
  out.set_label(annotation.label);
  out.set_comment(annotation.comment);
  return out;
}

Annotation MarkOf(const v1::MarkedSpan& span) {
  return {.sample_start = span.first_sample(),
          .sample_count = span.sample_count(),
          .label = span.label(),
          .comment = span.comment()};
}

}  // namespace

v1::Timeline ToProto(const Timeline& timeline) {
  v1::Timeline out;
  out.set_state(static_cast<v1::RecordingState>(timeline.state));
  out.set_samples(timeline.samples);
  out.set_sample_rate(timeline.sample_rate);
  out.set_frequency(timeline.frequency);
  out.set_datatype(timeline.datatype);
  if (timeline.start_time_ns.has_value()) {
    *out.mutable_start_time() = ToTimestamp(*timeline.start_time_ns);
  }
  out.set_durable_samples(timeline.durable_samples);
  for (const SampleSpan& gap : timeline.gaps) SetSpan(gap, out.add_gaps());
  out.set_gaps_total(timeline.gaps_total);
  for (const CaptureStart& one : timeline.captures) *out.add_captures() = CaptureToProto(one);
  for (const Annotation& one : timeline.annotations) *out.add_annotations() = MarkToProto(one);
  out.set_annotations_total(timeline.annotations_total);
  out.set_block_samples(timeline.block_samples);
  return out;
}

absl::StatusOr<Timeline> FromProto(const v1::Timeline& timeline) {
  Timeline out{.samples = timeline.samples(),
               .sample_rate = timeline.sample_rate(),
               .frequency = timeline.frequency(),
               .datatype = timeline.datatype(),
               .durable_samples = timeline.durable_samples(),
               .gaps_total = timeline.gaps_total(),
               .annotations_total = timeline.annotations_total(),
               .block_samples = timeline.block_samples()};
  if (timeline.has_start_time()) out.start_time_ns = FromTimestamp(timeline.start_time());
  TD_ASSIGN_OR_RETURN(out.state,
                      FromEnum<RecordingState>(timeline.state(), v1::RecordingState_MAX, "state"));
  for (const v1::SampleSpan& gap : timeline.gaps()) out.gaps.push_back(SpanOf(gap));
  for (const v1::CaptureStart& one : timeline.captures()) out.captures.push_back(CaptureOf(one));
  for (const v1::MarkedSpan& one : timeline.annotations()) {
    out.annotations.push_back(MarkOf(one));
  }
  return out;
}

v1::ReadSpectrogramRequest ToProto(const SpectrogramRequest& request) {
  v1::ReadSpectrogramRequest out;
  out.set_recording(request.recording);
  SetSpan(request.span, &out);
  out.set_columns(request.columns);
  out.set_rows(request.rows);
  return out;
}

SpectrogramRequest FromProto(const v1::ReadSpectrogramRequest& request) {
  return {.recording = request.recording(),
          .span = SpanOf(request),
          .columns = request.columns(),
          .rows = request.rows()};
}

v1::Spectrogram ToProto(const Spectrogram& spectrogram) {
  v1::Spectrogram out;
  out.set_columns(spectrogram.columns);
  out.set_rows(spectrogram.rows);
  SetSpan(spectrogram.span, &out);
  out.set_samples_per_row(spectrogram.samples_per_row);
  out.set_powers(BytesOf(spectrogram.powers));
  out.set_bytes_read(spectrogram.bytes_read);
  out.set_sample_rate(spectrogram.sample_rate);
  out.set_frequency(spectrogram.frequency);
  out.set_damaged_pieces(spectrogram.damaged_pieces);
  out.set_transforms_per_row(spectrogram.transforms_per_row);
  out.set_complex(spectrogram.complex);
  out.set_band_rate(spectrogram.band_rate);
  out.set_bins(spectrogram.bins);
  out.set_covered_samples(spectrogram.covered_samples);
  out.set_means(BytesOf(spectrogram.means));
  out.set_transforms(spectrogram.transforms);
  return out;
}

absl::StatusOr<Spectrogram> FromProto(const v1::Spectrogram& spectrogram) {
  Spectrogram out{.columns = spectrogram.columns(),
                  .rows = spectrogram.rows(),
                  .span = SpanOf(spectrogram),
                  .samples_per_row = spectrogram.samples_per_row(),
                  .bytes_read = spectrogram.bytes_read(),
                  .damaged_pieces = spectrogram.damaged_pieces(),
                  .sample_rate = spectrogram.sample_rate(),
                  .frequency = spectrogram.frequency(),
                  .transforms_per_row = spectrogram.transforms_per_row(),
                  .complex = spectrogram.complex(),
                  .band_rate = spectrogram.band_rate(),
                  .bins = spectrogram.bins(),
                  .covered_samples = spectrogram.covered_samples(),
                  .transforms = spectrogram.transforms()};
  if (out.rows > kMostRows || out.columns > kMostColumns || out.columns == 0) {
    return FieldError("columns", "has more rows or columns than there can be, or none");
  }
  const uint64_t powers = uint64_t{out.rows} * out.columns;
  TD_ASSIGN_OR_RETURN(out.powers, NumbersOf("powers", spectrogram.powers(), powers));
  TD_ASSIGN_OR_RETURN(out.means, NumbersOf("means", spectrogram.means(), out.columns));
  return out;
}

v1::ReadSamplesRequest ToProto(const SamplesRequest& request) {
  v1::ReadSamplesRequest out;
  out.set_recording(request.recording);
  SetSpan(request.span, &out);
  out.set_raw(request.raw);
  return out;
}

SamplesRequest FromProto(const v1::ReadSamplesRequest& request) {
  return {.recording = request.recording(), .span = SpanOf(request), .raw = request.raw()};
}

v1::Samples ToProto(const Samples& samples) {
  v1::Samples out;
  SetSpan(samples.span, &out);
  out.set_datatype(samples.datatype);
  out.set_samples(samples.bytes);
  for (const SampleSpan& span : samples.missing) SetSpan(span, out.add_missing());
  out.set_damaged_pieces(samples.damaged_pieces);
  out.set_bytes_read(samples.bytes_read);
  return out;
}

Samples FromProto(const v1::Samples& samples) {
  Samples out{.span = SpanOf(samples),
              .datatype = samples.datatype(),
              .bytes = samples.samples(),
              .bytes_read = samples.bytes_read(),
              .damaged_pieces = samples.damaged_pieces()};
  for (const v1::SampleSpan& span : samples.missing()) out.missing.push_back(SpanOf(span));
  return out;
}

v1::ReadEnvelopeRequest ToProto(const EnvelopeRequest& request) {
  v1::ReadEnvelopeRequest out;
  out.set_recording(request.recording);
  SetSpan(request.span, &out);
  out.set_points(request.points);
  return out;
}

EnvelopeRequest FromProto(const v1::ReadEnvelopeRequest& request) {
  return {.recording = request.recording(), .span = SpanOf(request), .points = request.points()};
}

v1::Envelope ToProto(const Envelope& envelope) {
  v1::Envelope out;
  out.set_points(static_cast<uint32_t>(envelope.powers.size()));
  SetSpan(envelope.span, &out);
  out.set_samples_per_point(envelope.samples_per_point);
  out.set_minima(BytesOf(envelope.minima));
  out.set_maxima(BytesOf(envelope.maxima));
  out.set_powers(BytesOf(envelope.powers));
  out.set_bytes_read(envelope.bytes_read);
  out.set_damaged_pieces(envelope.damaged_pieces);
  return out;
}

absl::StatusOr<Envelope> FromProto(const v1::Envelope& envelope) {
  Envelope out{.span = SpanOf(envelope),
               .samples_per_point = envelope.samples_per_point(),
               .bytes_read = envelope.bytes_read(),
               .damaged_pieces = envelope.damaged_pieces()};
  TD_ASSIGN_OR_RETURN(out.minima, NumbersOf("minima", envelope.minima(), envelope.points()));
  TD_ASSIGN_OR_RETURN(out.maxima, NumbersOf("maxima", envelope.maxima(), envelope.points()));
  TD_ASSIGN_OR_RETURN(out.powers, NumbersOf("powers", envelope.powers(), envelope.points()));
  return out;
}

}  // namespace tapedeck::services::convert
