// Where the samples of a SigMF data file lie, which samples of the recording they are, and when
// they were captured, as its captures say. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/model/recording/sample_time.h"
#include "services/model/words/note.h"
#include "services/signal/sigmf/meta.h"
#include "services/signal/sigmf/text.h"

namespace tapedeck::services::sigmf {

// Samples one behind the other.
struct Stretch {
  uint64_t sample = 0;       // of the recording, its first one
  uint64_t file_sample = 0;  // the same in the file
  uint64_t byte = 0;         // where it lies there
  uint64_t samples = 0;
};

struct PlacedCapture {
  size_t number = 0;    // in the file
  uint64_t sample = 0;  // of the recording
  // Its core:datetime is another than its sample's time.
  bool odd_time = false;
};

struct Layout {
  uint64_t first_index = 0;  // what the stream counts the first sample as
  uint64_t file_samples = 0;
  uint64_t samples = 0;  // with those that are missing
  model::SampleTime start_time_ns;
  std::vector<Stretch> stretches;
  std::vector<Gap> gaps;
  std::vector<PlacedCapture> captures;
  model::Notes notes;

  // Which sample of the recording one of the file is, up to file_samples.
  uint64_t PlaceOf(uint64_t file_sample) const;
};

// Of a data file of so many bytes, with samples of so many, `rate` a second (0: unknown). Gaps are
// where core:global_index says so, or without it where core:datetime is later than the samples
// before it last: by more than its digits tell, 1 ms, and 100 ppm of the time since the last such
// one. INVALID_ARGUMENT (FILE_INVALID): the captures contradict each other or the file, or 64 GiB
// are missing and more.
absl::StatusOr<Layout> ReadLayout(const SigmfRecording& meta, uint64_t data_bytes,
                                  uint64_t sample_bytes, double rate);

}  // namespace tapedeck::services::sigmf
