// The chunk `auxi` of programs for SDRs: when a WAV file was recorded, and at which frequency. In
// numbers (HDSDR, SDR#, Perseus) or as XML (SDR Console). Of this room alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/model/sample_time.h"

namespace tapedeck::services::formats {

// The most that is read of one.
inline constexpr uint64_t kMostAuxiBytes = 64 << 10;

struct Auxi {
  model::SampleTime start_ns;
  std::optional<uint64_t> frequency_hz;
  std::vector<std::string> notes;  // what it has and could not be read
};

Auxi ReadAuxi(absl::string_view chunk);

}  // namespace tapedeck::services::formats
