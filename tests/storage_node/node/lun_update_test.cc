// A LUN is changed while it is there: what it takes, what it refuses, and what is left after a
// restart, an attachment elsewhere, a member that fails and a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::FullPolicy;
using services::LunUpdate;
using testing::HasSubstr;

// A quarter of half of it is a segment on two devices.
constexpr uint64_t kWholeCapacity = 128 << 20;
constexpr char kLunChanged[] = "luns/l";

class UpdateLun : public testing::TestWithParam<std::string> {
 protected:
  UpdateLun() : node_(GetParam(), 2, kWholeCapacity, 128 << 20) {}

  absl::StatusOr<services::Lun> Update(LunUpdate update, const std::string& request_id = "") {
    update.name = kLunChanged;
    return node_.node().luns().UpdateLun(update, request_id);
  }
  services::Lun Get() {
    const auto lun = node_.node().luns().GetLun(kLunChanged);
    EXPECT_TRUE(lun.ok()) << lun.status();
    return lun.value_or(services::Lun());
  }
  // What can be changed.
  std::string Terms() {
    const services::Lun lun = Get();
    return absl::StrCat(lun.capacity_bytes, " ", static_cast<int>(lun.full_policy), " ",
                        lun.max_age_ns, " ", lun.max_fill_percent);
  }
  absl::Status MakeChannel(services::Channel channel) {
    channel.name = "luns/l/channels/d";
    channel.block_bytes = kBlockBytes;
    channel.datatype = "cf32_le";
    channel.sample_rate = 1000;
    return node_.node().channels().CreateChannel(channel, "").status();
  }
  std::string member(int m) const { return node_.dir().path() + "/m" + std::to_string(m); }
  std::string state_file() const { return node_.state_dir() + "/luns/l.json"; }
  std::string member_file(int m) const { return member(m) + "/.tapedeck/lun.json"; }

  void AttachElsewhere() {
    node_.Stop();
    fs::remove_all(node_.state_dir());
    node_.Start();
    const auto lun = node_.node().luns().AttachLun({.members = {member(0), member(1)}}, "");
    ASSERT_TRUE(lun.ok()) << lun.status();
  }

  NodeFixture node_;
};

using UpdateAnyLun = UpdateLun;
using UpdateLunOnMembers = UpdateLun;
using UpdateLunOfFiles = UpdateLun;

TEST_P(UpdateAnyLun, EachFieldAloneAndAllTogetherAndAfterARestart) {
  const std::string before = Terms();
  EXPECT_EQ(before, absl::StrCat(kWholeCapacity, " 1 0 0"));
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::capacity_bytes, kWholeCapacity / 2)).ok());
  EXPECT_EQ(Terms(), absl::StrCat(kWholeCapacity / 2, " 1 0 0"));
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::max_age_ns, 3'600'000'000'000)).ok());
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::max_fill_percent, 90)).ok());
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::full_policy, FullPolicy::kRing)).ok());
  const std::string after = absl::StrCat(kWholeCapacity / 2, " 2 3600000000000 90");
  EXPECT_EQ(Terms(), after);
  node_.Start();
  EXPECT_EQ(Terms(), after);
  const auto back = Update(LunUpdate()
                               .Set(&services::Lun::capacity_bytes, kWholeCapacity / 2)
                               .Set(&services::Lun::full_policy, FullPolicy::kStop)
                               .Set(&services::Lun::max_age_ns, 0)
                               .Set(&services::Lun::max_fill_percent, 0));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->full_policy, FullPolicy::kStop);
  EXPECT_EQ(Terms(), absl::StrCat(kWholeCapacity / 2, " 1 0 0"));
}

TEST_P(UpdateAnyLun, CapacityGoesDownToWhatIsUsedAndUpAgain) {
  node_.RecordAndSeal(40);
  const uint64_t used = Get().used_bytes;
  const absl::Status less =
      Update(LunUpdate().Set(&services::Lun::capacity_bytes, used - 1)).status();
  EXPECT_EQ(less.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Reason(less), "ARGUMENT_INVALID");
  EXPECT_THAT(less.message(), HasSubstr(absl::StrCat("uses ", used, " bytes")));
  EXPECT_EQ(Get().capacity_bytes, kWholeCapacity);
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::capacity_bytes, used)).ok());
  EXPECT_EQ(Reason(node_.Record().status()), "LUN_FULL");
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::capacity_bytes, kWholeCapacity)).ok());
  node_.RecordAndSeal(1, 2);
  EXPECT_EQ(Get().recordings, 2u);
}

TEST_P(UpdateAnyLun, ARecordingUnderWayGetsTheRoom) {
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::capacity_bytes, kWholeCapacity / 2)).ok());
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::capacity_bytes, kWholeCapacity)).ok());
  // More than half of it.
  for (uint64_t i = 10; i < 1100; ++i) ASSERT_TRUE(recorder->Push(i).ok()) << i;
  ASSERT_TRUE(recorder->Finish().ok());
  const std::string recording = recorder->admission.accept.recording;
  recorder->admission = {};
  EXPECT_EQ(node_.PlayAll(recording).size(), 1100u);
}

TEST_P(UpdateAnyLun, WhatNoNewLunMayBeNoOldOneBecomes) {
  EXPECT_EQ(Reason(Update(LunUpdate().Set(&services::Lun::max_age_ns, -1)).status()),
            "ARGUMENT_INVALID");
  EXPECT_EQ(Reason(Update(LunUpdate().Set(&services::Lun::max_fill_percent, 101)).status()),
            "ARGUMENT_INVALID");
  EXPECT_EQ(Reason(node_.node().luns().UpdateLun({.name = "luns/none"}, "").status()),
            "LUN_NOT_FOUND");
  EXPECT_EQ(Terms(), absl::StrCat(kWholeCapacity, " 1 0 0"));
}

TEST_P(UpdateAnyLun, AChannelMustFitTheRing) {
  ASSERT_TRUE(MakeChannel({.segment_bytes = kWholeCapacity / 2}).ok());
  const absl::Status large =
      Update(LunUpdate().Set(&services::Lun::full_policy, FullPolicy::kRing)).status();
  EXPECT_EQ(Reason(large), "ARGUMENT_INVALID");
  EXPECT_THAT(large.message(), HasSubstr("full_policy: luns/l/channels/d"));
  ASSERT_TRUE(node_.node()
                  .channels()
                  .UpdateChannel(services::ChannelUpdate{.name = "luns/l/channels/d"}.Set(
                                     &services::Channel::segment_bytes, 16 * kBlockBytes),
                                 "")
                  .ok());
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::full_policy, FullPolicy::kRing)).ok());
  const absl::Status small =
      Update(LunUpdate().Set(&services::Lun::capacity_bytes, 2 << 20)).status();
  EXPECT_EQ(Reason(small), "ARGUMENT_INVALID");
  EXPECT_THAT(small.message(), HasSubstr("capacity_bytes: luns/l/channels/"));
  EXPECT_EQ(Get().capacity_bytes, kWholeCapacity);
}

TEST_P(UpdateAnyLun, AChannelThatNeedsTheRingKeepsIt) {
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::full_policy, FullPolicy::kRing)).ok());
  ASSERT_TRUE(MakeChannel({.pre_trigger_ns = 2'000'000'000, .segment_bytes = 1 << 20}).ok());
  const absl::Status status =
      Update(LunUpdate().Set(&services::Lun::full_policy, FullPolicy::kStop)).status();
  EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
  EXPECT_THAT(status.message(), HasSubstr("luns/l/channels/d"));
  EXPECT_EQ(Get().full_policy, FullPolicy::kRing);
}

TEST_P(UpdateAnyLun, OneRequestHasOneResult) {
  const std::string id = "6f9619ff-8b86-4011-b42d-00c04fc964ff";
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::max_fill_percent, 50), id).ok());
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::max_fill_percent, 60), id).ok());
  EXPECT_EQ(Get().max_fill_percent, 50u);
  const services::Lun other{.name = "luns/o", .store = "memory", .capacity_bytes = 1 << 20};
  const absl::Status used = node_.node().luns().CreateLun(other, id).status();
  EXPECT_EQ(Reason(used), "ARGUMENT_INVALID");
  EXPECT_THAT(used.message(), HasSubstr("was used for a change of LUN luns/l"));
}

TEST_P(UpdateAnyLun, AnotherAgeCountsAtOnce) {
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::max_age_ns, 3'600'000'000'000)).ok());
  node_.RecordAndSeal(1);
  // Until it was seen that nothing is that old.
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::max_age_ns, 1'000'000)).ok());
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Get().recordings == 0; }));
}

TEST_P(UpdateAnyLun, ReadersSeeOneOrTheOther) {
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    while (!stop) {
      const services::Lun lun = Get();
      EXPECT_EQ(lun.max_age_ns / 1'000'000'000'000, lun.max_fill_percent);
    }
  });
  for (uint32_t i = 1; i <= 20; ++i) {
    EXPECT_TRUE(Update(LunUpdate()
                           .Set(&services::Lun::max_age_ns, int64_t{i} * 1'000'000'000'000)
                           .Set(&services::Lun::max_fill_percent, i))
                    .ok());
  }
  stop = true;
  reader.join();
}

TEST_P(UpdateLunOnMembers, AnotherNodeFindsWhatWasChanged) {
  const std::string recording = node_.RecordAndSeal(5);
  ASSERT_TRUE(Update(LunUpdate()
                         .Set(&services::Lun::capacity_bytes, kWholeCapacity / 2)
                         .Set(&services::Lun::full_policy, FullPolicy::kRing)
                         .Set(&services::Lun::max_age_ns, 7'200'000'000'000)
                         .Set(&services::Lun::max_fill_percent, 80))
                  .ok());
  node_.MakeChannel("e", dataplane::CommitLevel::kDurable);
  const std::string terms = Terms();
  AttachElsewhere();
  EXPECT_EQ(Terms(), terms);
  EXPECT_EQ(node_.PlayAll(recording).size(), 5u);
  EXPECT_EQ(node_.node().channels().ListChannels(kLunChanged)->size(), 2u);
}

TEST_P(UpdateLunOnMembers, OfflineItIsRefused) {
  node_.Stop();
  fs::rename(member(1), member(1) + ".away");
  node_.Start();
  EXPECT_EQ(Reason(Update(LunUpdate().Set(&services::Lun::max_fill_percent, 5)).status()),
            "LUN_OFFLINE");
  node_.Stop();
  fs::rename(member(1) + ".away", member(1));
  node_.Start();
  EXPECT_EQ(Terms(), absl::StrCat(kWholeCapacity, " 1 0 0"));
}

// A change is in the state directory before it is on the members: so this one is an old copy.
TEST_P(UpdateLunOnMembers, AStateDirectoryThatKnowsLessThanAMemberIsNotBelieved) {
  fs::copy_file(state_file(), state_file() + ".old");
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::max_fill_percent, 70)).ok());
  node_.Stop();
  fs::rename(state_file() + ".old", state_file());
  node_.Start();
  EXPECT_EQ(Get().state, services::LunState::kOffline);
  EXPECT_THAT(Get().cause, testing::HasSubstr("was changed 1 times"));
  AttachElsewhere();
  EXPECT_EQ(Get().max_fill_percent, 70u);
}

TEST_P(UpdateLunOfFiles, AMemberThatSaysTheOldOneIsTold) {
  fs::copy_file(member_file(1), member_file(1) + ".old");
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::max_fill_percent, 70)).ok());
  node_.Stop();
  fs::rename(member_file(1) + ".old", member_file(1));
  node_.Start();
  EXPECT_EQ(Get().max_fill_percent, 70u);
  node_.Stop();
  fs::remove_all(node_.state_dir());
  node_.Start();
  ASSERT_TRUE(node_.node().luns().AttachLun({.members = {member(1), member(0)}}, "").ok());
  EXPECT_EQ(Get().max_fill_percent, 70u);
}

TEST_P(UpdateLunOfFiles, AMemberThatCannotBeWrittenLeavesAllAsItWas) {
  fs::create_directory(member_file(1) + ".new");
  EXPECT_FALSE(Update(LunUpdate()
                          .Set(&services::Lun::capacity_bytes, 8 << 20)
                          .Set(&services::Lun::max_fill_percent, 70))
                   .ok());
  EXPECT_EQ(Terms(), absl::StrCat(kWholeCapacity, " 1 0 0"));
  // The capacity too: 16 MiB and more.
  node_.RecordAndSeal(256);
  fs::remove(member_file(1) + ".new");
  AttachElsewhere();
  EXPECT_EQ(Terms(), absl::StrCat(kWholeCapacity, " 1 0 0"));
}

TEST_P(UpdateLunOfFiles, WithoutACapacityItIsAsLargeAsItsDisk) {
  ASSERT_TRUE(Update(LunUpdate().Set(&services::Lun::capacity_bytes, 0)).ok());
  EXPECT_EQ(Get().capacity_bytes, 0u);
  node_.RecordAndSeal(2);
  EXPECT_EQ(
      Reason(Update(LunUpdate().Set(&services::Lun::full_policy, FullPolicy::kRing)).status()),
      "ARGUMENT_INVALID");
  EXPECT_EQ(Reason(Update(LunUpdate().Set(&services::Lun::max_fill_percent, 9)).status()),
            "ARGUMENT_INVALID");
  EXPECT_TRUE(Update(LunUpdate()
                         .Set(&services::Lun::capacity_bytes, kWholeCapacity)
                         .Set(&services::Lun::full_policy, FullPolicy::kRing))
                  .ok());
}

TEST(UpdateDeviceLun, HasNoMoreThanItsDevices) {
  NodeFixture node("device", 1, 16 << 20, 128 << 20);
  const auto lun = node.node().luns().UpdateLun(
      services::LunUpdate{.name = kLunChanged}.Set(&services::Lun::capacity_bytes, 0), "");
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_GT(lun->capacity_bytes, uint64_t{64} << 20);
  EXPECT_LT(lun->capacity_bytes, uint64_t{128} << 20);
}

TEST(UpdateMemoryLun, HasNoMoreThanItsMemory) {
  NodeFixture node("memory", 1, kWholeCapacity);
  for (const uint64_t bytes : {uint64_t{0}, kWholeCapacity + 1}) {
    const auto lun = node.node().luns().UpdateLun(
        services::LunUpdate{.name = kLunChanged}.Set(&services::Lun::capacity_bytes, bytes), "");
    EXPECT_EQ(Reason(lun.status()), "ARGUMENT_INVALID") << bytes;
  }
  EXPECT_EQ(node.node().luns().GetLun(kLunChanged)->capacity_bytes, kWholeCapacity);
}

std::string StoreNameOf(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Stores, UpdateAnyLun, testing::Values("posix", "device", "memory"),
                         StoreNameOf);
INSTANTIATE_TEST_SUITE_P(Stores, UpdateLunOnMembers, testing::Values("posix", "device"),
                         StoreNameOf);
INSTANTIATE_TEST_SUITE_P(Stores, UpdateLunOfFiles, testing::Values("posix", "direct"), StoreNameOf);

}  // namespace
}  // namespace tapedeck::storage_node
