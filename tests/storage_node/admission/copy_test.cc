// Recordings that say they are copies: their IDs, their times, and where what has moved is looked
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/reason.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::Recording;

constexpr char kOriginal[] = "luns/l/channels/d/recordings/20260131T120000Z-00ff";
constexpr int64_t kOpenNs = 1'769'860'800'000'000'000;

class CopyTest : public testing::Test {
 protected:
  CopyTest() { node_.MakeChannel("d", dataplane::CommitLevel::kDurable); }

  // A copy of `original` with so many blocks, closed for `cause`.
  Recording Copy(const std::string& original, uint64_t blocks,
                 const absl::Status& cause = absl::OkStatus()) {
    auto recorder =
        node_.Record({.original = services::session::Original{
                          .recording = original, .uid = "u-1", .open_time_ns = kOpenNs}});
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder->Push(i).ok()) << i;
    EXPECT_TRUE(recorder->Finish(cause).ok());
    return *node_.node().recordings().GetRecording(recorder->admission.accept.recording);
  }

  // Where the error says that `name` has gone; empty: it does not.
  std::string MovedTo(const std::string& name) {
    const absl::Status gone = node_.node().recordings().GetRecording(name).status();
    EXPECT_EQ(Reason(gone), "RECORDING_NOT_FOUND") << gone;
    const auto reason = dataplane::ReasonOf(gone);
    return reason->metadata.contains("moved_to") ? reason->metadata.at("moved_to") : "";
  }

  NodeFixture node_;
};

TEST_F(CopyTest, HasWhatItsOriginalHad) {
  const Recording copy = Copy(kOriginal, 3);
  EXPECT_EQ(copy.name, "luns/l/channels/c/recordings/20260131T120000Z-00ff");
  EXPECT_EQ(copy.original, kOriginal);
  EXPECT_EQ(copy.original_uid, "u-1");
  EXPECT_NE(copy.uid, "u-1");
  EXPECT_EQ(copy.open_time_ns, kOpenNs);
  EXPECT_EQ(copy.state, services::RecordingState::kSealed);
}

TEST_F(CopyTest, AnotherOneHasAnotherId) {
  const Recording first = Copy(kOriginal, 1), second = Copy(kOriginal, 1);
  EXPECT_NE(first.name, second.name);
  EXPECT_EQ(second.original, kOriginal);
}

TEST_F(CopyTest, NamesOfOtherSystemsGiveNoId) {
  const Recording copy = Copy("elsewhere/../../x", 1);
  EXPECT_THAT(copy.name,
              testing::MatchesRegex("luns/l/channels/c/recordings/[0-9TZ]+-[0-9a-f]{4}"));
  EXPECT_EQ(copy.original, "elsewhere/../../x");
}

TEST_F(CopyTest, WhatHasMovedIsToldByItsOldName) {
  EXPECT_EQ(MovedTo(kOriginal), "");
  const Recording copy = Copy(kOriginal, 3);
  EXPECT_EQ(MovedTo(kOriginal), copy.name);
  node_.Stop();
  ASSERT_TRUE(node::RebuildCatalog(node_.state_dir()).ok());
  node_.Start();
  EXPECT_EQ(MovedTo(kOriginal), copy.name) << "the manifest says so";
  ASSERT_TRUE(node_.node().recordings().DeleteRecording(copy.name).ok());
  EXPECT_EQ(MovedTo(kOriginal), "");
}

TEST_F(CopyTest, AnUnfinishedOneIsNotTheRecording) {
  Copy(kOriginal, 3, absl::AbortedError("broken off"));
  EXPECT_EQ(MovedTo(kOriginal), "");
}

// Whoever asks: what is whole before it is written is whole after it.
class WholeTest : public CopyTest {
 protected:
  WholeTest() {
    const services::Lun ring{.name = "luns/ring",
                             .store = "memory",
                             .capacity_bytes = 16 << 20,
                             .full_policy = services::FullPolicy::kRing};
    EXPECT_TRUE(node_.node().luns().CreateLun(ring, "").ok());
    Make({.name = kRing});
    Make({.name = kTriggered,
          .commit = dataplane::CommitLevel::kReceived,
          .pre_trigger_ns = 1'000'000'000});
  }
  void Make(services::Channel channel) {
    channel.block_bytes = kBlockBytes;
    channel.datatype = "cf32_le";
    channel.sample_rate = 1e5;
    const auto made = node_.node().channels().CreateChannel(channel, "");
    EXPECT_TRUE(made.ok()) << made.status();
  }

  std::string CopyInto(const std::string& channel) {
    return Reason(
        node_
            .Record({.channel = channel,
                     .expected_blocks = 1,
                     .original = services::session::Original{.recording = kOriginal, .uid = "u-1"}})
            .status());
  }
  std::string ImportInto(const std::string& channel, uint64_t blocks) {
    services::session::Open open{.channel = channel, .expected_blocks = blocks};
    open.origin.source.name = "import";
    return Reason(node_.Record(open).status());
  }

  static constexpr char kPlain[] = "luns/l/channels/d";
  static constexpr char kRing[] = "luns/ring/channels/c";
  static constexpr char kTriggered[] = "luns/l/channels/t";
};

TEST_F(WholeTest, AChannelThatKeepsCapturesAloneTakesNone) {
  EXPECT_EQ(CopyInto(kTriggered), "ARGUMENT_INVALID");
  EXPECT_EQ(ImportInto(kTriggered, 1), "ARGUMENT_INVALID");
  EXPECT_TRUE(node_.Record({.channel = kTriggered, .expected_blocks = 1}).ok());
}

TEST_F(WholeTest, ARingTakesNoCopyAndWhatItWouldNotKeep) {
  EXPECT_EQ(CopyInto(kRing), "ARGUMENT_INVALID");
  EXPECT_EQ(ImportInto(kRing, 256), "ARGUMENT_INVALID");
  EXPECT_EQ(ImportInto(kRing, 100), "none");
  EXPECT_TRUE(node_.Record({.channel = kRing, .expected_blocks = 256}).ok());
}

TEST_F(WholeTest, AnotherChannelTakesBoth) {
  EXPECT_EQ(CopyInto(kPlain), "none");
  EXPECT_EQ(ImportInto(kPlain, 1), "none");
}

}  // namespace
}  // namespace tapedeck::storage_node
