// What recordings look like, in plain values. Field meanings are those of tapedeck/v1/view.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "services/model/recording/recording.h"

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

struct CaptureStart {
  uint64_t sample = 0;
  uint64_t stream_sample = 0;
  double frequency = 0;
  SampleTime time_ns;  // none: unknown
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

struct SpectrogramRequest {
  std::string recording;
  SampleSpan span;
  uint32_t columns = 0;
  uint32_t rows = 0;
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

struct SamplesRequest {
  std::string recording;
  SampleSpan span;
  bool raw = false;
};

struct Samples {
  SampleSpan span;
  std::string datatype;
  std::string bytes;
  std::vector<SampleSpan> missing;
  uint64_t bytes_read = 0;
  uint64_t damaged_pieces = 0;
};

struct EnvelopeRequest {
  std::string recording;
  SampleSpan span;
  uint32_t points = 0;
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
