// Test suites run once per device; a device that this machine lacks is skipped with its reason.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "absl/synchronization/notification.h"
#include "gpu_worker/pipeline/device_choice.h"

namespace tapedeck::gpu_worker {

// Waits until everything enqueued is done.
inline absl::Status Wait(device::Queue& queue) {
  absl::Notification done;
  absl::Status out;
  queue.Then([&](absl::Status status) {
    out = std::move(status);
    done.Notify();
  });
  done.WaitForNotification();
  return out;
}

// A suite parameterised over --device texts. Tests use device() and queue().
class DeviceTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto choice = pipeline::ChooseDevice(GetParam());
    if (!choice.ok()) GTEST_SKIP() << choice.status().message();
    choice_ = *std::move(choice);
    auto queue = choice_.device->NewQueue();
    ASSERT_TRUE(queue.ok()) << queue.status();
    queue_ = *std::move(queue);
  }

  device::Device& device() { return *choice_.device; }
  device::Queue& queue() { return *queue_; }

  pipeline::DeviceChoice choice_;
  std::unique_ptr<device::Queue> queue_;
};

// CMake gives the tests whose name has "Cuda" the label gpu.
#define TAPEDECK_ON_EVERY_DEVICE(Suite)                            \
  INSTANTIATE_TEST_SUITE_P(Host, Suite, testing::Values("host"),   \
                           [](const auto&) { return "Host"; });    \
  INSTANTIATE_TEST_SUITE_P(Cuda, Suite, testing::Values("cuda:0"), \
                           [](const auto&) { return "Cuda"; })

}  // namespace tapedeck::gpu_worker
