// Record and playback pipelines with the settings that tests vary.
#pragma once

#include <map>
#include <string>

#include "dataplane/clock.h"
#include "gpu_worker/pipeline/pipeline_factory.h"

namespace tapedeck::gpu_worker {

inline constexpr uint64_t kTestBlockBytes = 64 << 10;

struct TestRecording {
  std::string datatype = "cf32_le";
  std::variant<services::SynthSpec, services::FileSourceSpec> source;
  uint32_t fft = 0;
  uint64_t blocks = 0;
  int64_t duration_ns = 0;
  size_t slots = 8;
  uint64_t block_bytes = kTestBlockBytes;
  dataplane::ladder::Rung rung = dataplane::ladder::Rung::kBounce;
};

inline absl::StatusOr<pipeline::Recording> Record(const pipeline::DeviceChoice& device,
                                                  const TestRecording& test,
                                                  const dataplane::Clock& clock) {
  return pipeline::CreateRecording(
      {.spec = {.transfer = {.fft_points = test.fft},
                .source = test.source,
                .blocks = test.blocks,
                .duration_ns = test.duration_ns},
       .channel = {.datatype = test.datatype, .block_bytes = test.block_bytes},
       .device = &device,
       .ring =
           pipeline::MakeRing(*device.device, test.rung, 1, test.slots, test.block_bytes).value(),
       .clock = &clock});
}

struct TestPlayback {
  std::string datatype = "cf32_le";
  std::variant<services::VerifySpec, services::NullSpec, services::FileSinkSpec> sink;
  std::map<std::string, std::string> labels;
  uint32_t fft = 0;
  uint64_t blocks = 0;
  uint64_t block_bytes = kTestBlockBytes;
  bool direct = false;
};

inline absl::StatusOr<pipeline::Playback> Play(const pipeline::DeviceChoice& device,
                                               const TestPlayback& test) {
  return pipeline::CreatePlayback(
      {.spec = {.transfer = {.fft_points = test.fft}, .sink = test.sink},
       .channel = {.datatype = test.datatype, .block_bytes = test.block_bytes},
       .labels = test.labels,
       .blocks = test.blocks,
       .device = &device,
       .direct = test.direct});
}

}  // namespace tapedeck::gpu_worker
