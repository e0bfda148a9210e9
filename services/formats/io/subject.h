// Of a recording the samples that become a file, and what is learnt of them on the way. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/datatype.h"
#include "services/model/recording/recording.h"
#include "services/signal/sigmf/text.h"

namespace tapedeck::services::formats {

struct Subject {
  Recording recording;
  std::string datatype;
  dataplane::Datatype type;
  uint64_t first_sample = 0;  // of the recording
  uint64_t bytes = 0;         // of samples, with those that are missing

  uint64_t sample_bytes() const { return type.bytes_per_sample(); }
  uint64_t samples() const { return bytes / sample_bytes(); }
  uint64_t first_byte() const { return first_sample * sample_bytes(); }
};

// Which samples; none of the numbers: to the end. Of a recording that is still written those that
// are durable. INVALID_ARGUMENT (ARGUMENT_INVALID): it has not so many, or `first` is not 0 and
// none follows.
struct Range {
  uint64_t first = 0;
  uint64_t count = 0;
};
absl::StatusOr<Subject> SubjectOf(const Recording& recording, const Range& range);

// Some of the samples, in order, one behind the other.
struct Piece {
  uint64_t offset = 0;              // of its first byte in the subject
  uint64_t bytes = 0;               // that it stands for
  std::span<const std::byte> data;  // none: they are missing, or damaged
  uint64_t sample_index = 0;        // of its first sample in the stream
};

// Samples of the subject, from its first on.
struct SampleRange {
  uint64_t first = 0;
  uint64_t count = 0;
  bool operator==(const SampleRange&) const = default;
};

// What was seen of the samples so far.
struct Seen {
  std::vector<sigmf::Run> runs;   // the first ones
  std::vector<SampleRange> gaps;  // none touches another

  uint64_t missing_samples() const;
  // Of the subject's first sample, in the stream.
  uint64_t first_index() const;
};

// RESOURCE_EXHAUSTED (LIMIT_REACHED): there are more gaps than a file can tell of.
absl::Status AddPiece(const Piece& piece, uint64_t sample_bytes, Seen* seen);

// The time of a sample, counted from the subject's first one.
model::SampleTime TimeOf(const Subject& subject, uint64_t sample);

// The frequency of the signal in the subject, in Hz, as annotations tell it.
struct Frequency {
  std::optional<double> hertz;  // at the first sample; none: unknown
  // The first other one, and its sample.
  std::optional<double> next_hertz;
  uint64_t next_sample = 0;
};
// `seen` is of all samples.
Frequency FrequencyOf(const Subject& subject, const Seen& seen);

// Samples of blocks that are there, which annotations `lost` say were not received.
struct Losses {
  std::vector<SampleRange> ranges;  // in order; none touches another
  // Of losses that are told together: at most and at least so many samples, and where all of them
  // lie. Some of the samples among which they lie may be no samples of the subject.
  uint64_t somewhere = 0;
  uint64_t somewhere_least = 0;
  SampleRange around;

  // At most.
  uint64_t samples() const;
  // "up to " where it may be fewer.
  absl::string_view bound() const { return somewhere_least < somewhere ? "up to " : ""; }
};
// `seen` is of all samples.
Losses LossesOf(const Subject& subject, const Seen& seen);

}  // namespace tapedeck::services::formats
