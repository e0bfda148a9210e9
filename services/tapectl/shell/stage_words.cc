#include "services/tapectl/shell/stage_words.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr size_t kMost = 9;

struct StageWords {
  absl::string_view role;
  absl::string_view stage;
  absl::string_view parameters[kMost];
};

constexpr StageWords kStages[] = {
    {"source", "file", {"path", "loop"}},
    {"source",
     "ingest",
     {"udp", "tcp", "interface", "from", "packets", "stream", "timeout", "silence", "buffer"}},
    {"source", "synth", {"seed", "tones", "noise"}},
    {"transform", "convert", {"from", "to"}},
    {"transform",
     "detect",
     {"points", "window", "low", "high", "threshold", "hysteresis", "hold_off"}},
    {"transform", "fft", {"points", "window"}},
    {"transform", "power", {"points", "average"}},
    {"sink", "file", {"path", "replace"}},
    {"sink", "udp", {"address", "packets", "packet_bytes", "stream"}},
};

}  // namespace

std::span<const absl::string_view> ParametersOf(absl::string_view role, absl::string_view stage) {
  for (const StageWords& one : kStages) {
    if (one.role != role || one.stage != stage) continue;
    size_t count = 0;
    while (count < kMost && !one.parameters[count].empty()) ++count;
    return std::span(one.parameters).first(count);
  }
  return {};
}

}  // namespace tapedeck::services::tapectl
