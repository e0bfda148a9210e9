// The chunk `auxi` of programs for SDRs: when a WAV file was recorded, and at which frequency. In
// numbers (HDSDR, SDR#, SDRangel) or as XML (SDR Console). Of this room alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/model/recording/recording.h"
#include "services/model/recording/sample_time.h"
#include "services/model/words/note.h"

namespace tapedeck::services::formats {

// The most that is read of one.
inline constexpr uint64_t kMostAuxiBytes = 64 << 10;

struct Auxi {
  model::SampleTime start_ns;
  std::optional<Annotation> signal;
  model::Notes notes;  // what it has and could not be read, or is not taken over

  bool operator==(const Auxi&) const = default;
};

// `sample_rate` is the file's, in samples per second: a note names another.
Auxi ReadAuxi(absl::string_view chunk, double sample_rate);

}  // namespace tapedeck::services::formats
