// What recordings look like, in plain values. Field meanings are those of tapedeck/v1/view.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "services/model/recording/recording.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

// Of requests and answers. A transform of more points does not lie in one piece of a block any
// more; of more rows, points or values there are no pixels, nor room in a message.
inline constexpr uint32_t kLeastColumns = 16;
inline constexpr uint32_t kMostColumns = 4096;
inline constexpr uint32_t kMostRows = 2048;
inline constexpr uint32_t kMostPowers = 1 << 19;  // rows * columns
inline constexpr uint32_t kMostPoints = 4096;
inline constexpr uint64_t kMostSamples = 65536;
inline constexpr size_t kMostGaps = 1024;
inline constexpr size_t kMostCaptures = 64;
inline constexpr size_t kMostAnnotations = 1024;

struct SampleSpan {
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t end() const { return first + count; }
  bool operator==(const SampleSpan&) const = default;
};

template <>
struct Fields<SampleSpan> {
  static constexpr auto kList = std::make_tuple(Report(&SampleSpan::first, "first_sample"),
                                                Report(&SampleSpan::count, "sample_count"));
};

struct CaptureStart {
  uint64_t sample = 0;
  uint64_t stream_sample = 0;
  double frequency = 0;
  SampleTime time_ns;  // none: unknown
};

template <>
struct Fields<CaptureStart> {
  static constexpr auto kList =
      std::make_tuple(Report(&CaptureStart::sample, "sample"),
                      Report(&CaptureStart::stream_sample, "stream_sample"),
                      Report(&CaptureStart::frequency, "frequency"),
                      Report(&CaptureStart::time_ns, "time", {.unit = Unit::kTime}));
};

struct Timeline {
  RecordingState state = RecordingState::kRecording;
  uint64_t samples = 0;
  double sample_rate = 0;
  double frequency = 0;
  std::string datatype;
  SampleTime start_time_ns;  // of the first sample; none: unknown
  uint64_t durable_samples = 0;
  std::vector<SampleSpan> gaps;
  uint64_t gaps_total = 0;
  std::vector<CaptureStart> captures;
  std::vector<Annotation> annotations;  // by the samples of the view
  uint64_t annotations_total = 0;
  uint64_t block_samples = 0;
};

// The annotations are no entry of the list: their message is not that of a recording's.
template <>
struct Fields<Timeline> {
  static constexpr auto kList = std::make_tuple(
      Report(&Timeline::state, "state", {.required = true}), Report(&Timeline::samples, "samples"),
      Report(&Timeline::sample_rate, "sample_rate"), Report(&Timeline::frequency, "frequency"),
      Report(&Timeline::datatype, "datatype"),
      Report(&Timeline::start_time_ns, "start_time", {.unit = Unit::kTime}),
      Report(&Timeline::durable_samples, "durable_samples"), Report(&Timeline::gaps, "gaps"),
      Report(&Timeline::gaps_total, "gaps_total"), Report(&Timeline::captures, "captures"),
      Report(&Timeline::annotations_total, "annotations_total"),
      Report(&Timeline::block_samples, "block_samples"));
};

struct SpectrogramRequest {
  std::string recording;
  SampleSpan span;
  uint32_t columns = 0;
  uint32_t rows = 0;
};

template <>
struct Fields<SpectrogramRequest> {
  static constexpr auto kList = std::make_tuple(
      Report(&SpectrogramRequest::recording, "recording"),
      Report(&SpectrogramRequest::span, "span", {.flat = true}),
      Report(&SpectrogramRequest::columns, "columns"), Report(&SpectrogramRequest::rows, "rows"));
};

struct Spectrogram {
  uint32_t columns = 0;
  uint32_t rows = 0;
  SampleSpan span;
  double samples_per_row = 0;
  std::vector<float> powers;
  uint64_t bytes_read = 0;
  uint64_t damaged_pieces = 0;
  double sample_rate = 0;
  double frequency = 0;
  uint32_t transforms_per_row = 0;
  bool complex = false;
  double band_rate = 0;
  uint32_t bins = 0;
  uint64_t covered_samples = 0;
  std::vector<float> means;  // of each column
  uint64_t transforms = 0;
};

template <>
struct Fields<Spectrogram> {
  static constexpr auto kList = std::make_tuple(
      Report(&Spectrogram::span, "span", {.flat = true}), Report(&Spectrogram::rows, "rows"),
      Report(&Spectrogram::columns, "columns"),
      Report(&Spectrogram::samples_per_row, "samples_per_row"),
      Report(&Spectrogram::transforms_per_row, "transforms_per_row"),
      Report(&Spectrogram::sample_rate, "sample_rate"),
      Report(&Spectrogram::frequency, "frequency"), Report(&Spectrogram::complex, "complex"),
      Report(&Spectrogram::band_rate, "band_rate"), Report(&Spectrogram::bins, "bins"),
      Report(&Spectrogram::covered_samples, "covered_samples"),
      Report(&Spectrogram::transforms, "transforms"),
      Report(&Spectrogram::means, "means", {.unit = Unit::kDecibels}),
      Report(&Spectrogram::bytes_read, "bytes_read"),
      Report(&Spectrogram::damaged_pieces, "damaged_pieces"),
      Report(&Spectrogram::powers, "powers", {.unit = Unit::kDecibels}));
};

struct SamplesRequest {
  std::string recording;
  SampleSpan span;
  bool raw = false;
};

template <>
struct Fields<SamplesRequest> {
  static constexpr auto kList = std::make_tuple(
      Report(&SamplesRequest::recording, "recording"),
      Report(&SamplesRequest::span, "span", {.flat = true}), Report(&SamplesRequest::raw, "raw"));
};

struct Samples {
  SampleSpan span;
  std::string datatype;
  std::string bytes;
  std::vector<SampleSpan> missing;
  uint64_t bytes_read = 0;
  uint64_t damaged_pieces = 0;
};

template <>
struct Fields<Samples> {
  static constexpr auto kList = std::make_tuple(
      Report(&Samples::span, "span", {.flat = true}), Report(&Samples::datatype, "datatype"),
      Report(&Samples::bytes, "samples"), Report(&Samples::missing, "missing"),
      Report(&Samples::damaged_pieces, "damaged_pieces"),
      Report(&Samples::bytes_read, "bytes_read"));
};

struct EnvelopeRequest {
  std::string recording;
  SampleSpan span;
  uint32_t points = 0;
};

template <>
struct Fields<EnvelopeRequest> {
  static constexpr auto kList =
      std::make_tuple(Report(&EnvelopeRequest::recording, "recording"),
                      Report(&EnvelopeRequest::span, "span", {.flat = true}),
                      Report(&EnvelopeRequest::points, "points"));
};

struct Envelope {
  SampleSpan span;
  double samples_per_point = 0;
  // One of each for each point.
  std::vector<float> minima;
  std::vector<float> maxima;
  std::vector<float> powers;
  uint64_t bytes_read = 0;
  uint64_t damaged_pieces = 0;
};

template <>
struct Fields<Envelope> {
  static constexpr auto kList = std::make_tuple(
      Report(&Envelope::span, "span", {.flat = true}),
      Report(&Envelope::samples_per_point, "samples_per_point"),
      Report(&Envelope::minima, "minima"), Report(&Envelope::maxima, "maxima"),
      Report(&Envelope::powers, "powers", {.unit = Unit::kDecibels}),
      Report(&Envelope::bytes_read, "bytes_read"),
      Report(&Envelope::damaged_pieces, "damaged_pieces"),
      Derive(
          +[](const Envelope& envelope) { return static_cast<uint32_t>(envelope.powers.size()); },
          {.name = "points", .role = Role::kReported}));
};

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::CaptureStart;
using model::Envelope;
using model::EnvelopeRequest;
using model::kLeastColumns;
using model::kMostAnnotations;
using model::kMostCaptures;
using model::kMostColumns;
using model::kMostGaps;
using model::kMostPoints;
using model::kMostPowers;
using model::kMostRows;
using model::kMostSamples;
using model::Samples;
using model::SampleSpan;
using model::SamplesRequest;
using model::Spectrogram;
using model::SpectrogramRequest;
using model::Timeline;

}  // namespace tapedeck::services
