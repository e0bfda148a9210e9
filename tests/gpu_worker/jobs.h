// Record and playback pipelines with the settings that tests vary, and the stages they name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/clock.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pipeline/pipeline_factory.h"

namespace tapedeck::gpu_worker {

inline constexpr uint64_t kTestBlockBytes = 64 << 10;

inline services::StageSpec Synth(uint64_t seed = 1) { return {"synth", {{"seed", seed}}}; }
inline services::StageSpec FileSource(const std::string& path, bool loop = false) {
  return {"file", {{"path", path}, {"loop", loop}}};
}
inline services::StageSpec FileSink(const std::string& path, bool replace = false) {
  return {"file", {{"path", path}, {"replace", replace}}};
}
inline services::StageSpec Verify() { return {"verify"}; }
inline services::StageSpec Null() { return {"null"}; }
inline services::StageSpec Fft(uint32_t points, const std::string& window = "none") {
  return {"fft", {{"points", uint64_t{points}}, {"window", window}}};
}
inline services::StageSpec Power(uint32_t points, uint32_t average) {
  return {"power", {{"points", uint64_t{points}}, {"average", uint64_t{average}}}};
}
inline services::StageSpec Convert(const std::string& from, const std::string& to) {
  return {"convert", {{"from", from}, {"to", to}}};
}
// An fft, if there are points, and what follows it.
inline std::vector<services::StageSpec> Transforms(uint32_t fft,
                                                   std::vector<services::StageSpec> others) {
  if (fft != 0) others.insert(others.begin(), Fft(fft));
  return others;
}

// A second output.
struct TestSecondOutput {
  std::string datatype = "rf32_le";
  std::vector<services::StageSpec> transforms;
  size_t slots = 8;
  uint64_t block_bytes = 4096;
  dataplane::ladder::Rung rung = dataplane::ladder::Rung::kBounce;
};

struct TestRecording {
  std::string datatype = "cf32_le";
  services::StageSpec source;
  uint32_t fft = 0;
  std::vector<services::StageSpec> transforms;  // after the fft
  uint64_t blocks = 0;
  int64_t duration_ns = 0;  // an endless source needs this or blocks
  size_t slots = 8;
  size_t run = 1;  // blocks that are made at once; 0: as many as for a worker's job
  uint64_t block_bytes = kTestBlockBytes;
  double sample_rate = 0;
  dataplane::ladder::Rung rung = dataplane::ladder::Rung::kBounce;
  std::optional<TestSecondOutput> second_output = {};
};

inline absl::StatusOr<pipeline::Recording> Record(const pipeline::DeviceChoice& device,
                                                  const TestRecording& test,
                                                  const dataplane::Clock& clock) {
  services::RecordSpec spec{.transfer = {.transforms = Transforms(test.fft, test.transforms)},
                            .source = test.source,
                            .blocks = test.blocks,
                            .duration_ns = test.duration_ns};
  pipeline::SecondOutputSettings second_output;
  if (test.second_output.has_value()) {
    spec.outputs.push_back({.transforms = test.second_output->transforms});
    TD_ASSIGN_OR_RETURN(
        second_output.ring,
        pipeline::MakeRing(*device.device, test.second_output->rung, 1, test.second_output->slots,
                           test.second_output->block_bytes));
    second_output.channel = {.datatype = test.second_output->datatype,
                             .block_bytes = test.second_output->block_bytes};
    second_output.beside = "the first";
  }
  TD_ASSIGN_OR_RETURN(auto stages, pipeline::ChooseStages(spec));
  const size_t run =
      test.run != 0 ? test.run : pipeline::BlocksAtOnce(stages, test.block_bytes, *device.device);
  return pipeline::CreateRecording(
      {.stages = std::move(stages),
       .spec = std::move(spec),
       .second_output = std::move(second_output),
       .channel = {.datatype = test.datatype,
                   .block_bytes = test.block_bytes,
                   .sample_rate = test.sample_rate},
       .files = services::files::FileRoots::Anywhere(),
       .device = &device,
       .ring = pipeline::MakeRing(*device.device, test.rung, 1, test.slots, test.block_bytes, run)
                   .value(),
       .clock = &clock});
}

struct TestPlayback {
  std::string datatype = "cf32_le";
  services::StageSpec sink;
  services::model::Origin origin;
  uint32_t fft = 0;
  std::vector<services::StageSpec> transforms;  // after the fft
  uint64_t blocks = 0;
  uint64_t block_bytes = kTestBlockBytes;
  bool direct = false;
  double sample_rate = 0;
  std::vector<services::Annotation> annotations;
};

inline absl::StatusOr<pipeline::Playback> Play(const pipeline::DeviceChoice& device,
                                               const TestPlayback& test) {
  TD_ASSIGN_OR_RETURN(
      auto stages,
      pipeline::ChooseStages(services::PlaybackSpec{
          .transfer = {.transforms = Transforms(test.fft, test.transforms)}, .sink = test.sink}));
  return pipeline::CreatePlayback({.stages = std::move(stages),
                                   .channel = {.datatype = test.datatype,
                                               .block_bytes = test.block_bytes,
                                               .sample_rate = test.sample_rate},
                                   .origin = test.origin,
                                   .annotations = test.annotations,
                                   .blocks = test.blocks,
                                   .files = services::files::FileRoots::Anywhere(),
                                   .destinations = services::identity::AddressPatterns::Any(),
                                   .device = &device,
                                   .direct = test.direct});
}

}  // namespace tapedeck::gpu_worker
