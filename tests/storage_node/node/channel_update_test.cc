// A channel is changed: its next recordings have what was changed, those there are and those under
// way do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "storage_node/format/config.h"
#include "tests/storage_node/capture/segment_fixture.h"
#include "tests/storage_node/every_field.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::ChannelUpdate;
using testing::HasSubstr;

class UpdateChannel : public SegmentTest {
 protected:
  absl::StatusOr<services::Channel> Update(ChannelUpdate update,
                                           const std::string& request_id = "") {
    update.name = kChannel;
    return node_.node().channels().UpdateChannel(update, request_id);
  }
  services::Channel Get() {
    const auto channel = node_.node().channels().GetChannel(kChannel);
    EXPECT_TRUE(channel.ok()) << channel.status();
    return channel.value_or(services::Channel());
  }
  std::string member() const { return node_.dir().path() + "/ring"; }
};

using UpdateChannelOnMembers = UpdateChannel;

// Those of a ring go nowhere.
bool CanChange(const services::model::FieldTraits& field) {
  return field.settable() && field.name != "move_to";
}

// Every field that can change.
ChannelUpdate EachField() {
  ChannelUpdate update{.to = EveryChannelField()};
  services::model::ForEachField<services::Channel>([&](const auto& field) {
    if (CanChange(field)) update.fields.emplace(field.name);
  });
  return update;
}

TEST_P(UpdateChannel, EachFieldAloneAndAfterARestart) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({}).ok());
  services::Channel expected = Get();
  // The order of the fields is one in which each is allowed.
  services::model::ForEachField<services::Channel>([&](const auto& field) {
    if (!CanChange(field)) return;
    SCOPED_TRACE(field.name);
    const ChannelUpdate step{.fields = {std::string(field.name)}, .to = EveryChannelField()};
    const std::string before = format::EncodeChannel(expected);
    expected = services::Updated(expected, step);
    EXPECT_NE(format::EncodeChannel(expected), before);
    const auto updated = Update(step);
    ASSERT_TRUE(updated.ok()) << updated.status();
    EXPECT_EQ(format::EncodeChannel(*updated), format::EncodeChannel(expected));
  });
  node_.Start();
  EXPECT_EQ(format::EncodeChannel(Get()), format::EncodeChannel(expected));
  ASSERT_TRUE(Update(ChannelUpdate().Set(&services::Channel::op, std::nullopt)).ok());
  EXPECT_FALSE(Get().op.has_value());
}

TEST_P(UpdateChannelOnMembers, AnotherNodeFindsWhatWasChanged) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({}).ok());
  ASSERT_TRUE(Update(EachField()).ok());
  const std::string text = format::EncodeChannel(Get());
  node_.Stop();
  fs::remove_all(node_.state_dir());
  node_.Start();
  ASSERT_TRUE(node_.node().luns().AttachLun({.members = {member()}}, "").ok());
  EXPECT_EQ(format::EncodeChannel(Get()), text);
}

TEST_P(UpdateChannel, ARecordingUnderWayIsNotTouched) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({}).ok());
  auto recorder = Start();
  Push(recorder, 0, 5);
  ASSERT_TRUE(Update(ChannelUpdate()
                         .Set(&services::Channel::block_bytes, 2 * kBlockBytes)
                         .Set(&services::Channel::datatype, "ci16_le"))
                  .ok());
  Push(recorder, 5, 20);
  ASSERT_TRUE(recorder.Finish().ok());
  const services::Recording old = node_.Get(recorder.admission.accept.recording);
  recorder.admission = {};
  EXPECT_EQ(old.block_bytes, kBlockBytes);
  EXPECT_EQ(old.datatype, "cf32_le");
  EXPECT_EQ(node_.PlayAll(old.name).size(), 20u);
  auto next = Start();
  EXPECT_EQ(next.admission.accept.block_bytes, 2 * kBlockBytes);
  EXPECT_EQ(next.admission.accept.datatype, "ci16_le");
  EXPECT_EQ(next.admission.ring->slot_bytes(), 2 * kBlockBytes);
}

// Of the channel's own segments, and of those that follow from the capacity.
TEST_P(UpdateChannel, AStreamKeepsItsSegments) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  auto recorder = Start();
  Push(recorder, 0, kSegmentBlocks + 2);
  ASSERT_TRUE(Update(ChannelUpdate()
                         .Set(&services::Channel::block_bytes, 2 * kBlockBytes)
                         .Set(&services::Channel::segment_bytes, 3 << 20))
                  .ok());
  // One in memory cannot grow.
  const uint64_t before = node_.node().luns().GetLun("luns/ring")->capacity_bytes;
  const uint64_t after = GetParam() == "memory" ? before / 8 * 7 : before * 2;
  ASSERT_TRUE(node_.node()
                  .luns()
                  .UpdateLun(services::LunUpdate{.name = "luns/ring"}.Set(
                                 &services::Lun::capacity_bytes, after),
                             "")
                  .ok());
  Push(recorder, kSegmentBlocks + 2, 6 * kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission = {};
  const auto segments = Segments();
  EXPECT_EQ(segments.size(), 6u);
  for (const auto& [number, segment] : segments) {
    EXPECT_EQ(segment.blocks, kSegmentBlocks) << number;
    EXPECT_EQ(segment.block_bytes, kBlockBytes) << number;
  }
}

TEST_P(UpdateChannel, WhatNoNewChannelMayBeNoOldOneBecomes) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({}).ok());
  const std::string before = format::EncodeChannel(Get());
  EXPECT_EQ(Reason(Update(ChannelUpdate().Set(&services::Channel::block_bytes, 1000)).status()),
            "BLOCK_SIZE_INVALID");
  EXPECT_EQ(Reason(Update(ChannelUpdate().Set(&services::Channel::datatype, "cf99")).status()),
            "DATATYPE_INVALID");
  EXPECT_EQ(Reason(Update(ChannelUpdate().Set(&services::Channel::sample_rate, -1)).status()),
            "ARGUMENT_INVALID");
  // Only a ring keeps what it stores until a trigger.
  const absl::Status trigger =
      Update(ChannelUpdate().Set(&services::Channel::pre_trigger_ns, 1)).status();
  EXPECT_EQ(Reason(trigger), "ARGUMENT_INVALID");
  EXPECT_THAT(trigger.message(), HasSubstr("pre_trigger"));
  const auto absent =
      ChannelUpdate{.name = "luns/ring/channels/none"}.Set(&services::Channel::sample_rate, 1);
  EXPECT_EQ(Reason(node_.node().channels().UpdateChannel(absent, "").status()),
            "CHANNEL_NOT_FOUND");
  EXPECT_EQ(format::EncodeChannel(Get()), before);
}

TEST_P(UpdateChannel, ASegmentMustFitTheRing) {
  MakeRing();
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  const absl::Status status =
      Update(ChannelUpdate().Set(&services::Channel::segment_bytes, 1 << 30)).status();
  EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
  EXPECT_THAT(status.message(), HasSubstr("segment_bytes"));
}

TEST_P(UpdateChannel, ASegmentHasItsLeastBlocks) {
  MakeLun({});
  const absl::Status made = MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes - 1});
  EXPECT_EQ(Reason(made), "ARGUMENT_INVALID");
  EXPECT_THAT(made.message(), HasSubstr(absl::StrCat(kSegmentBlocks * kBlockBytes, " bytes")));
  ASSERT_TRUE(MakeChannel({.segment_bytes = kSegmentBlocks * kBlockBytes}).ok());
  const auto refused = [&](const auto& update) { return Reason(Update(update).status()); };
  EXPECT_EQ(refused(ChannelUpdate().Set(&services::Channel::segment_bytes, kBlockBytes)),
            "ARGUMENT_INVALID");
  EXPECT_EQ(refused(ChannelUpdate().Set(&services::Channel::block_bytes, 2 * kBlockBytes)),
            "ARGUMENT_INVALID");
  EXPECT_TRUE(Update(ChannelUpdate().Set(&services::Channel::segment_bytes, 0)).ok());
}

TEST_P(UpdateChannel, OneRequestHasOneResult) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({}).ok());
  const std::string id = "6f9619ff-8b86-4011-b42d-00c04fc964ff";
  ASSERT_TRUE(Update(ChannelUpdate().Set(&services::Channel::sample_rate, 5), id).ok());
  ASSERT_TRUE(Update(ChannelUpdate().Set(&services::Channel::sample_rate, 6), id).ok());
  EXPECT_EQ(Get().sample_rate, 5);
}

TEST_P(UpdateChannelOnMembers, OfflineItIsRefused) {
  MakeLun({});
  ASSERT_TRUE(MakeChannel({}).ok());
  node_.Stop();
  fs::rename(member(), member() + ".away");
  node_.Start();
  EXPECT_EQ(Reason(Update(ChannelUpdate().Set(&services::Channel::sample_rate, 5)).status()),
            "LUN_OFFLINE");
}

INSTANTIATE_TEST_SUITE_P(Stores, UpdateChannel, testing::Values("memory", "posix", "device"),
                         StoreOf);
INSTANTIATE_TEST_SUITE_P(Stores, UpdateChannelOnMembers, testing::Values("posix", "device"),
                         StoreOf);

}  // namespace
}  // namespace tapedeck::storage_node
