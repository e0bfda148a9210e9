// What pipelines say their stages take, with one of them made slow, on every device.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/status_macros.h"
#include "services/observe/explain/explanation.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"

namespace tapedeck::gpu_worker {
namespace {

namespace explain = services::explain;

constexpr uint64_t kBlocks = 65;  // the first and the last of them are looked at on the device

// Keeps the device busy without changing the payload: its check value, again and again.
class Heavy final : public stages::Transform {
 public:
  Heavy(device::Queue& queue, std::unique_ptr<dataplane::Memory> crc)
      : queue_(queue), crc_(std::move(crc)) {}
  size_t granule_bytes() const override { return sizeof(float) * 2; }
  absl::Status Apply(std::span<std::byte> /*in*/, std::span<std::byte> payload) override {
    auto* const crc = reinterpret_cast<uint32_t*>(crc_->window().bytes.data());
    for (int i = 0; i < 2000; ++i) TD_RETURN_IF_ERROR(queue_.Crc32c(crc, payload));
    return absl::OkStatus();
  }

 private:
  device::Queue& queue_;
  const std::unique_ptr<dataplane::Memory> crc_;
};

class StageTimesTest : public DeviceTest {
 protected:
  stages::ChosenTransform HeavyTransform() {
    const auto create = [this](const stages::TransformSetup& setup)
        -> absl::StatusOr<std::unique_ptr<stages::Transform>> {
      TD_ASSIGN_OR_RETURN(auto crc, device().NewHostMemory(sizeof(uint32_t)));
      return std::make_unique<Heavy>(*setup.queue, std::move(crc));
    };
    return {.name = "heavy", .create = create};
  }

  // The stages of the pipeline that made all blocks as fast as they were taken.
  std::vector<explain::StageShare> Record(std::optional<stages::ChosenTransform> transform) {
    auto stages = pipeline::ChooseStages(
        services::RecordSpec{.source = {"synth", {{"noise", uint64_t{0}}}}, .blocks = kBlocks});
    if (transform.has_value()) stages->transforms.push_back(*transform);
    const auto rung = dataplane::ladder::Rung::kBounce;
    const int64_t began_ns = clock_.NowNs();
    auto recording = pipeline::CreateRecording(
        {.stages = *std::move(stages),
         .spec = {.blocks = kBlocks},
         .channel = {.datatype = "cf32_le", .block_bytes = kTestBlockBytes},
         .device = &choice_,
         .ring = pipeline::MakeRing(device(), rung, 1, 8, kTestBlockBytes).value(),
         .clock = &clock_});
    EXPECT_TRUE(recording.ok()) << recording.status();
    if (!recording.ok()) return {};
    EXPECT_TRUE(PullAll(*recording->source).ok());
    services::StageTimes times = recording->source->stage_times();
    times.push_back({"send.idle", "", clock_.NowNs() - began_ns});
    return explain::Explain(times, dataplane::Direction::kRecord).stages;
  }

  const dataplane::SystemClock clock_{};
};

TEST_P(StageTimesTest, AHeavyTransformIsWhatTakesLong) {
  const auto stages = Record(HeavyTransform());
  ASSERT_FALSE(stages.empty());
  EXPECT_EQ(stages[0].name, "gpu");  // how large its share is depends on who else computes
}

TEST_P(StageTimesTest, WithoutOneItIsNot) {
  const auto stages = Record(std::nullopt);
  ASSERT_FALSE(stages.empty());
  EXPECT_NE(stages[0].name, "gpu");
  for (const explain::StageShare& stage : stages) EXPECT_LE(stage.share, 1.01) << stage.name;
}

TAPEDECK_ON_EVERY_DEVICE(StageTimesTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
