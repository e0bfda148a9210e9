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
  static constexpr auto kList = std::make_tuple(
      Describe(&SampleSpan::first, {.name = "first_sample", .role = Role::kReported}),
      Describe(&SampleSpan::count, {.name = "sample_count", .role = Role::kReported}));
};

struct CaptureStart {
  uint64_t sample = 0;
  uint64_t stream_sample = 0;
  double frequency = 0;
  SampleTime time_ns;  // none: unknown
};

template <>
struct Fields<CaptureStart> {
  static constexpr auto kList = std::make_tuple(
      Describe(&CaptureStart::sample, {.name = "sample", .role = Role::kReported}),
      Describe(&CaptureStart::stream_sample, {.name = "stream_sample", .role = Role::kReported}),
      Describe(&CaptureStart::frequency, {.name = "frequency", .role = Role::kReported}),
      Describe(&CaptureStart::time_ns,
               {.name = "time", .role = Role::kReported, .unit = Unit::kTime}));
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
      Describe(&Timeline::state, {.name = "state", .role = Role::kReported, .required = true}),
      Describe(&Timeline::samples, {.name = "samples", .role = Role::kReported}),
      Describe(&Timeline::sample_rate, {.name = "sample_rate", .role = Role::kReported}),
      Describe(&Timeline::frequency, {.name = "frequency", .role = Role::kReported}),
      Describe(&Timeline::datatype, {.name = "datatype", .role = Role::kReported}),
      Describe(&Timeline::start_time_ns,
               {.name = "start_time", .role = Role::kReported, .unit = Unit::kTime}),
      Describe(&Timeline::durable_samples, {.name = "durable_samples", .role = Role::kReported}),
      Describe(&Timeline::gaps, {.name = "gaps", .role = Role::kReported}),
      Describe(&Timeline::gaps_total, {.name = "gaps_total", .role = Role::kReported}),
      Describe(&Timeline::captures, {.name = "captures", .role = Role::kReported}),
      Describe(&Timeline::annotations_total,
               {.name = "annotations_total", .role = Role::kReported}),
      Describe(&Timeline::block_samples, {.name = "block_samples", .role = Role::kReported}));
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
      Describe(&SpectrogramRequest::recording, {.name = "recording", .role = Role::kReported}),
      Describe(&SpectrogramRequest::span, {.name = "span", .role = Role::kReported, .flat = true}),
      Describe(&SpectrogramRequest::columns, {.name = "columns", .role = Role::kReported}),
      Describe(&SpectrogramRequest::rows, {.name = "rows", .role = Role::kReported}));
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
      Describe(&Spectrogram::span, {.name = "span", .role = Role::kReported, .flat = true}),
      Describe(&Spectrogram::rows, {.name = "rows", .role = Role::kReported}),
      Describe(&Spectrogram::columns, {.name = "columns", .role = Role::kReported}),
      Describe(&Spectrogram::samples_per_row, {.name = "samples_per_row", .role = Role::kReported}),
      Describe(&Spectrogram::transforms_per_row,
               {.name = "transforms_per_row", .role = Role::kReported}),
      Describe(&Spectrogram::sample_rate, {.name = "sample_rate", .role = Role::kReported}),
      Describe(&Spectrogram::frequency, {.name = "frequency", .role = Role::kReported}),
      Describe(&Spectrogram::complex, {.name = "complex", .role = Role::kReported}),
      Describe(&Spectrogram::band_rate, {.name = "band_rate", .role = Role::kReported}),
      Describe(&Spectrogram::bins, {.name = "bins", .role = Role::kReported}),
      Describe(&Spectrogram::covered_samples, {.name = "covered_samples", .role = Role::kReported}),
      Describe(&Spectrogram::transforms, {.name = "transforms", .role = Role::kReported}),
      Describe(&Spectrogram::means,
               {.name = "means", .role = Role::kReported, .unit = Unit::kDecibels}),
      Describe(&Spectrogram::bytes_read, {.name = "bytes_read", .role = Role::kReported}),
      Describe(&Spectrogram::damaged_pieces, {.name = "damaged_pieces", .role = Role::kReported}),
      Describe(&Spectrogram::powers,
               {.name = "powers", .role = Role::kReported, .unit = Unit::kDecibels}));
};

struct SamplesRequest {
  std::string recording;
  SampleSpan span;
  bool raw = false;
};

template <>
struct Fields<SamplesRequest> {
  static constexpr auto kList = std::make_tuple(
      Describe(&SamplesRequest::recording, {.name = "recording", .role = Role::kReported}),
      Describe(&SamplesRequest::span, {.name = "span", .role = Role::kReported, .flat = true}),
      Describe(&SamplesRequest::raw, {.name = "raw", .role = Role::kReported}));
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
      Describe(&Samples::span, {.name = "span", .role = Role::kReported, .flat = true}),
      Describe(&Samples::datatype, {.name = "datatype", .role = Role::kReported}),
      Describe(&Samples::bytes, {.name = "samples", .role = Role::kReported}),
      Describe(&Samples::missing, {.name = "missing", .role = Role::kReported}),
      Describe(&Samples::damaged_pieces, {.name = "damaged_pieces", .role = Role::kReported}),
      Describe(&Samples::bytes_read, {.name = "bytes_read", .role = Role::kReported}));
};

struct EnvelopeRequest {
  std::string recording;
  SampleSpan span;
  uint32_t points = 0;
};

template <>
struct Fields<EnvelopeRequest> {
  static constexpr auto kList = std::make_tuple(
      Describe(&EnvelopeRequest::recording, {.name = "recording", .role = Role::kReported}),
      Describe(&EnvelopeRequest::span, {.name = "span", .role = Role::kReported, .flat = true}),
      Describe(&EnvelopeRequest::points, {.name = "points", .role = Role::kReported}));
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
      Describe(&Envelope::span, {.name = "span", .role = Role::kReported, .flat = true}),
      Describe(&Envelope::samples_per_point,
               {.name = "samples_per_point", .role = Role::kReported}),
      Describe(&Envelope::minima, {.name = "minima", .role = Role::kReported}),
      Describe(&Envelope::maxima, {.name = "maxima", .role = Role::kReported}),
      Describe(&Envelope::powers,
               {.name = "powers", .role = Role::kReported, .unit = Unit::kDecibels}),
      Describe(&Envelope::bytes_read, {.name = "bytes_read", .role = Role::kReported}),
      Describe(&Envelope::damaged_pieces, {.name = "damaged_pieces", .role = Role::kReported}),
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
