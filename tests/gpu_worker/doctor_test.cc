// What the doctor finds of a worker's device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_worker/doctor/checks.h"

namespace tapedeck::gpu_worker::doctor {
namespace {

using dataplane::Direction;
using dataplane::ladder::Rung;
using dataplane::topology::Distance;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> CodesOf(const DeviceFacts& facts) {
  Findings findings;
  DeviceCheck(facts.name, [&facts] { return facts; }).run({}, findings);
  std::vector<std::string> codes;
  for (const auto& finding : findings) codes.push_back(finding.code);
  return codes;
}

DeviceFacts NearGpu() {
  return {.name = "cuda:0",
          .why = "asked for",
          .rdma_rails = {"r0"},
          .distances = {{.rail = "r0", .distance = Distance::kSwitch},
                        {.rail = "r1", .distance = Distance::kSystem}},
          .rungs = {{"r0", Direction::kRecord, {Rung::kDmaBuf, "probed"}},
                    {"r1", Direction::kRecord, {Rung::kBounce, "TCP"}}}};
}

TEST(DoctorDeviceTest, Healthy) {
  EXPECT_THAT(CodesOf(NearGpu()), IsEmpty());
  EXPECT_THAT(CodesOf({.name = "host", .why = "asked for", .on_host = true}), IsEmpty());
  EXPECT_THAT(CodesOf({.name = "cuda:0", .why = "auto: the first device"}), IsEmpty());
}

TEST(DoctorDeviceTest, AutoFoundNoGpu) {
  EXPECT_THAT(CodesOf({.name = "host", .why = "auto: no cuda device: none", .on_host = true}),
              ElementsAre("DEVICE_UNUSABLE"));
}

TEST(DoctorDeviceTest, ADeviceThatHasFailed) {
  DeviceFacts facts = NearGpu();
  facts.health = absl::FailedPreconditionError("cuda:0 has failed");
  EXPECT_THAT(CodesOf(facts), ElementsAre("DEVICE_FAILED"));
}

TEST(DoctorDeviceTest, NoRailIsNear) {
  DeviceFacts facts = NearGpu();
  facts.distances[0].distance = Distance::kSystem;
  EXPECT_THAT(CodesOf(facts), ElementsAre("GPU_NIC_FAR"));
  facts.distances[0].distance = Distance::kUnknown;
  EXPECT_THAT(CodesOf(facts), IsEmpty());
}

TEST(DoctorDeviceTest, WindowWithoutRoom) {
  DeviceFacts facts = NearGpu();
  facts.room = absl::ResourceExhaustedError("BAR1 has 256 MiB");
  EXPECT_THAT(CodesOf(facts), ElementsAre("BAR1_EXHAUSTED"));
  facts.rdma_rails.clear();
  EXPECT_THAT(CodesOf(facts), IsEmpty());
}

TEST(DoctorDeviceTest, RungsByDirection) {
  DeviceFacts facts = NearGpu();
  facts.rungs.push_back({"r0", Direction::kPlayback, {Rung::kBounce, "errno 14"}});
  EXPECT_THAT(CodesOf(facts), ElementsAre("GPU_MEMORY_NOT_REGISTRABLE"));
  facts.rungs.back().choice.rung = Rung::kPeerMemory;
  EXPECT_THAT(CodesOf(facts), ElementsAre("PEERMEM_USED"));
}

}  // namespace
}  // namespace tapedeck::gpu_worker::doctor
