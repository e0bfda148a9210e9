#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu_worker/pipeline/gpu_ring.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/device/devices.h"

namespace tapedeck::gpu_worker {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(DeviceChoiceTest, HostIsAlwaysThere) {
  const auto choice = pipeline::ChooseDevice("host");
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_THAT(choice->description, StartsWith("host ("));
  EXPECT_EQ(choice->why, "asked for");
}

TEST(DeviceChoiceTest, AutoSaysWhatItTried) {
  const auto choice = pipeline::ChooseDevice("auto");
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_THAT(choice->why, StartsWith("auto: "));
  if (choice->device->info().kind == "host") {
    EXPECT_THAT(choice->why, HasSubstr("no cuda device: "));
  }
}

TEST(DeviceChoiceTest, RefusesOtherText) {
  for (const char* text :
       {"", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1:2", "host:0", "hip:0"}) {
    const absl::Status status = pipeline::ChooseDevice(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(services::ReasonOf(status)->reason, "ARGUMENT_INVALID") << text;
  }
}

TEST(DeviceChoiceTest, AMissingDeviceSaysWhy) {
  const absl::Status status = pipeline::ChooseDevice("cuda:4711").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "DEVICE_UNUSABLE");
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("device"), "cuda:4711");
}

std::string ReasonOf(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  return reason.has_value() ? reason->reason : status.ToString();
}

TEST(DeviceChoiceTest, EachDeviceIsNamedOnce) {
  for (const std::vector<std::string>& texts : std::vector<std::vector<std::string>>{
           {"auto"}, {"all"}, {"host"}, {"cuda:0", "cuda:1"}, {"cuda:1", "host"}}) {
    EXPECT_TRUE(pipeline::CheckDevices(texts).ok()) << texts[0];
  }
  for (const std::vector<std::string>& texts :
       std::vector<std::vector<std::string>>{{"host", "host"},
                                             {"cuda:1", "cuda:0", "cuda:01"},
                                             {"auto", "cuda:0"},
                                             {"cuda:0", "all"},
                                             {"auto", "auto"},
                                             {"host", "gpu:0"}}) {
    EXPECT_EQ(ReasonOf(pipeline::CheckDevices(texts)), "ARGUMENT_INVALID") << texts[0];
  }
}

TEST(DeviceChoiceTest, OneWorkerDrivesSixteen) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < pipeline::kMaxDevices; ++i) texts.push_back(absl::StrCat("cuda:", i));
  EXPECT_TRUE(pipeline::CheckDevices(texts).ok());
  texts.push_back("host");
  EXPECT_EQ(ReasonOf(pipeline::CheckDevices(texts)), "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonOf(pipeline::ChooseDevices(texts).status()), "ARGUMENT_INVALID");
}

TEST(DeviceChoiceTest, AllAreTheGpusOrNone) {
  const auto all = pipeline::ChooseDevices({"all"});
  if (!pipeline::ChooseDevice("cuda:0").ok()) {
    EXPECT_EQ(ReasonOf(all.status()), "DEVICE_UNUSABLE");
    EXPECT_THAT(std::string(all.status().message()), StartsWith("--device all: no cuda device: "));
    return;
  }
  ASSERT_TRUE(all.ok()) << all.status();
  for (size_t i = 0; i < all->size(); ++i) {
    EXPECT_EQ((*all)[i].device->info().name, absl::StrCat("cuda:", i));
  }
}

TEST(DeviceChoiceTest, IfOneDoesNotWorkNoneIsChosen) {
  EXPECT_EQ(pipeline::ChooseDevices({"host"})->size(), 1u);
  const absl::Status status = pipeline::ChooseDevices({"host", "cuda:4711"}).status();
  EXPECT_EQ(ReasonOf(status), "DEVICE_UNUSABLE");
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("device"), "cuda:4711");
}

class QueueTest : public DeviceTest {};

TEST_P(QueueTest, CopiesThereAndBackInOrder) {
  constexpr size_t kBytes = 1 << 20;
  auto from = device().NewHostMemory(kBytes).value();
  auto to = device().NewHostMemory(kBytes).value();
  auto memory = device().NewDeviceMemory(kBytes).value();
  EXPECT_EQ(memory->window().host_accessible, device().info().works_in_host_memory);
  std::memset(to->window().bytes.data(), 0, kBytes);
  for (size_t i = 0; i < kBytes; ++i) from->window().bytes[i] = static_cast<std::byte>(i * 7 >> 4);
  std::byte* const on_device = memory->window().bytes.data();
  ASSERT_TRUE(queue().CopyToDevice(on_device, from->window().bytes.data(), kBytes).ok());
  ASSERT_TRUE(queue().CopyToHost(to->window().bytes.data(), on_device, kBytes).ok());
  ASSERT_TRUE(Wait(queue()).ok());
  EXPECT_EQ(std::memcmp(from->window().bytes.data(), to->window().bytes.data(), kBytes), 0);
}

TEST_P(QueueTest, CallbacksKeepTheirOrderAndAllRunBeforeTheQueueIsGone) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    queue().Then([&order, i](const absl::Status& status) {
      EXPECT_TRUE(status.ok());
      order.push_back(i);
    });
  }
  queue_.reset();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST_P(QueueTest, ManyBlocksUnderWayKeepTheirContents) {
  constexpr size_t kBytes = 64 << 10;
  constexpr size_t kBlocks = 32;
  auto ring =
      pipeline::MakeRing(device(), dataplane::ladder::Rung::kBounce, 1, kBlocks, kBytes).value();
  auto gpu_ring = pipeline::GpuRing::Create(device(), false, kBytes).value();
  std::vector<dataplane::Block> blocks;
  std::vector<pipeline::GpuRing::Loan> loans;
  for (size_t i = 0; i < kBlocks; ++i) {
    blocks.push_back(*ring->Take());
    const auto host = blocks.back().memory();
    std::memset(host.data(), static_cast<int>(i + 1), kBytes);
    loans.push_back(*gpu_ring->Lend(host));
    ASSERT_TRUE(queue().CopyToDevice(loans.back().network.device.data(), host.data(), kBytes).ok());
  }
  ASSERT_TRUE(Wait(queue()).ok());
  for (size_t i = 0; i < kBlocks && !device().info().works_in_host_memory; ++i) {
    std::memset(blocks[i].memory().data(), 0, kBytes);
  }
  for (size_t i = 0; i < kBlocks; ++i) {
    std::byte* const host = blocks[i].memory().data();
    ASSERT_TRUE(queue().CopyToHost(host, loans[i].network.device.data(), kBytes).ok());
  }
  ASSERT_TRUE(Wait(queue()).ok());
  for (size_t i = 0; i < kBlocks; ++i) {
    EXPECT_EQ(blocks[i].memory()[0], static_cast<std::byte>(i + 1));
    EXPECT_EQ(blocks[i].memory()[kBytes - 1], static_cast<std::byte>(i + 1));
  }
}

TAPEDECK_ON_EVERY_DEVICE(QueueTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
