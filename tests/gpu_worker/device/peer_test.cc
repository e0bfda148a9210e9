#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/synchronization/notification.h"
#include "dataplane/crc/crc32c.h"
#include "gpu_worker/device/peer_copies.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/device/peer_owner.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::MemoryShare;
using dataplane::PeerPath;
using testing::HasSubstr;

constexpr size_t kBytes = 3 << 20;

// Memory of another process on every device.
class PeerTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    copies_ = std::make_unique<device::DevicePeerCopies>(std::vector<device::Device*>{&device()});
    auto memory = device().peer()->NewSharedMemory(kBytes);
    ASSERT_TRUE(memory.ok()) << memory.status();
    memory_ = *std::move(memory);
    auto host = device().NewHostMemory(kBytes);
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }

  std::unique_ptr<PeerOwner> StartOwner() {
    auto owner = PeerOwner::Start(GetParam(), kBytes);
    EXPECT_TRUE(owner.ok()) << owner.status();
    return owner.ok() ? *std::move(owner) : nullptr;
  }

  absl::StatusOr<std::unique_ptr<PeerPath>> Open(const MemoryShare& share) {
    return copies_->Open(share, memory_->window());
  }

  std::span<std::byte> own() { return memory_->window().bytes; }
  std::span<std::byte> host() { return host_->window().bytes; }

  template <typename Start>
  static absl::Status Await(Start start) {
    absl::Notification done;
    absl::Status out;
    start([&](absl::Status status) {
      out = std::move(status);
      done.Notify();
    });
    done.WaitForNotification();
    return out;
  }

  void SetOwn() {
    ASSERT_TRUE(queue().CopyToDevice(own().data(), host().data(), kBytes).ok());
    ASSERT_TRUE(Wait(queue()).ok());
  }
  void GetOwn() {
    ASSERT_TRUE(queue().CopyToHost(host().data(), own().data(), kBytes).ok());
    ASSERT_TRUE(Wait(queue()).ok());
  }

  std::unique_ptr<device::DevicePeerCopies> copies_;
  std::unique_ptr<dataplane::Memory> memory_;
  std::unique_ptr<dataplane::Memory> host_;
};

TEST_P(PeerTest, ReadsWhatTheOtherProcessHas) {
  const auto owner = StartOwner();
  ASSERT_NE(owner, nullptr);
  const auto path = Open(owner->share());
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ((*path)->bytes(), kBytes);
  constexpr size_t kOffset = 1 << 20;
  EXPECT_TRUE(Await([&](PeerPath::Done done) {
                (*path)->Read(own().first(kBytes - kOffset), kOffset, std::move(done));
              }).ok());
  GetOwn();
  for (size_t i = 0; i < kBytes - kOffset; ++i) ASSERT_EQ(host()[i], OwnedByte(i + kOffset)) << i;
}

TEST_P(PeerTest, WritesWhatTheOtherProcessSees) {
  const auto owner = StartOwner();
  ASSERT_NE(owner, nullptr);
  const auto path = Open(owner->share());
  ASSERT_TRUE(path.ok()) << path.status();
  for (size_t i = 0; i < kBytes; ++i) host()[i] = static_cast<std::byte>(i * 7);
  SetOwn();
  EXPECT_TRUE(Await([&](PeerPath::Done done) { (*path)->Write(own(), 0, std::move(done)); }).ok());
  EXPECT_EQ(*owner->Crc(), dataplane::Crc32c(host()));
}

TEST_P(PeerTest, ManyCopiesComeToTheirEndsInAnyNumber) {
  const auto owner = StartOwner();
  ASSERT_NE(owner, nullptr);
  auto path = Open(owner->share());
  ASSERT_TRUE(path.ok()) << path.status();
  constexpr size_t kPiece = 4096;
  absl::Mutex mutex;
  size_t ended = 0;
  absl::Status all;
  for (size_t at = 0; at < kBytes; at += kPiece) {
    (*path)->Read(own().subspan(at, kPiece), at, [&](const absl::Status& status) {
      absl::MutexLock lock(&mutex);
      all.Update(status);
      ++ended;
    });
  }
  path->reset();  // waits for them
  absl::MutexLock lock(&mutex);
  EXPECT_TRUE(all.ok()) << all;
  EXPECT_EQ(ended, kBytes / kPiece);
  GetOwn();
  for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(host()[i], OwnedByte(i)) << i;
}

TEST_P(PeerTest, MemoryOfAProcessThatIsGoneStaysOpenUntilItIsLetGo) {
  const auto owner = StartOwner();
  ASSERT_NE(owner, nullptr);
  const auto path = Open(owner->share());
  ASSERT_TRUE(path.ok()) << path.status();
  owner->Kill();
  // What it holds now is not promised; that reading it harms nobody is.
  Await([&](PeerPath::Done done) { (*path)->Read(own(), 0, std::move(done)); }).IgnoreError();
  EXPECT_TRUE(device().health().status().ok()) << device().health().status();
}

TEST_P(PeerTest, WhatAPeerSaysOfItsMemoryIsNotBelieved) {
  const auto owner = StartOwner();
  ASSERT_NE(owner, nullptr);
  MemoryShare larger = owner->share();
  larger.bytes = size_t{1} << 40;
  MemoryShare none;
  MemoryShare other = owner->share();
  other.name[0] ^= 1;
  other.handle.fill(0xa5);
  MemoryShare elsewhere = owner->share();
  elsewhere.pid = 1;
  elsewhere.device_uuid.fill(0x5a);
  for (const MemoryShare& share : {larger, none, other, elsewhere}) {
    const absl::Status status = Open(share).status();
    EXPECT_FALSE(status.ok());
    EXPECT_FALSE(status.message().empty());
  }
  EXPECT_TRUE(device().health().status().ok()) << device().health().status();
  EXPECT_TRUE(Open(owner->share()).ok()) << "a wrong claim spoils no right one";
}

TEST_P(PeerTest, MemoryOfTheOtherKindIsRefusedByName) {
  MemoryShare share{.kind = device().info().works_in_host_memory ? MemoryShare::Kind::kCuda
                                                                 : MemoryShare::Kind::kMemfd,
                    .bytes = 4096};
  EXPECT_THAT(std::string(Open(share).status().message()), HasSubstr("--rails"));
}

TAPEDECK_ON_EVERY_DEVICE(PeerTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
