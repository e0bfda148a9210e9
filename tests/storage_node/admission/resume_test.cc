// Record sessions that go on with the recording of one that was lost, on each kind of store: who
// may, what is there afterwards, and what a crash between the steps leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "storage_node/admission/resumed.h"
#include "tests/storage_node/node_fixture.h"
#include "tests/storage_node/settable_clock.h"

namespace tapedeck::storage_node {
namespace {

using services::RecordingState;
using services::session::Accept;
using services::session::Open;
using services::session::Resume;
using testing::IsEmpty;

const absl::Status kLost = services::PeerLost("worker", "the worker's control stream ended");

// FAILED_PRECONDITION (RESUME_REFUSED), and why.
std::string WhyRefused(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  if (!reason.has_value() || reason->reason != "RESUME_REFUSED") return status.ToString();
  return reason->metadata.at("why");
}

class ResumeTest : public testing::TestWithParam<std::string> {
 protected:
  static Open Asks(const Accept& accept, uint64_t first_block) {
    return {.resume = Resume{.recording = accept.recording,
                             .token = accept.resume_token,
                             .first_block = first_block}};
  }
  // A session that brought these blocks and was lost: closed by its end, or, as the node died too,
  // by nobody.
  Accept Lose(const std::vector<uint64_t>& blocks, bool closed) {
    auto recorder = node_.Record();
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (const uint64_t i : blocks) EXPECT_TRUE(recorder->Push(i).ok()) << i;
    const auto written = [&] {
      return recorder->admission.sink->watermarks().received == 0 ||
             recorder->admission.sink->watermarks().durable > 0;
    };
    EXPECT_TRUE(node_.executor().RunUntil(written));
    if (closed) {
      EXPECT_TRUE(recorder->Finish(kLost).ok());
    }
    return recorder->admission.accept;
  }
  // In all, and then the end of the stream.
  void GoOn(Recorder* recorder, uint64_t end) {
    for (uint64_t i = recorder->admission.accept.next_block; i < end; ++i) {
      EXPECT_TRUE(recorder->Push(i).ok()) << i;
    }
    EXPECT_TRUE(recorder->Finish().ok());
  }
  auto Shown(const std::string& name) {
    const services::Recording r = node_.Get(name);
    return std::tuple(r.state, r.blocks, r.bytes, r.missing_blocks, r.durable_watermark, r.cause,
                      r.close_time_ns);
  }
  // One recording, sealed, with all blocks but those that are missing.
  void ExpectWhole(const std::string& name, uint64_t blocks, uint64_t missing = 0) {
    const auto all = node_.node().recordings().ListRecordings("luns/l/channels/c");
    EXPECT_EQ(all->size(), 1u);
    const services::Recording recording = node_.Get(name);
    EXPECT_EQ(recording.state, RecordingState::kSealed);
    EXPECT_EQ(recording.cause, "");
    EXPECT_EQ(recording.blocks, blocks);
    EXPECT_EQ(recording.bytes, (blocks - missing) * kBlockBytes);
    EXPECT_EQ(recording.missing_blocks, missing);
    EXPECT_EQ(node_.Verify(name).size(), missing);
    EXPECT_EQ(node_.PlayAll(name).size(), blocks);
    EXPECT_EQ(node_.node().luns().GetLun("luns/l")->used_bytes, Takes(GetParam(), blocks));
  }

  NodeFixture node_{GetParam()};
};

TEST_P(ResumeTest, GoesOnAfterTheLastBlockThatIsThere) {
  const Accept before = Lose({0, 1, 2, 3, 4}, /*closed=*/true);
  ASSERT_EQ(before.resume_token.size(), 16u);
  EXPECT_EQ(node_.Get(before.recording).state, RecordingState::kSalvaged);
  auto recorder = node_.Record(Asks(before, 2));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const Accept& accept = recorder->admission.accept;
  EXPECT_EQ(accept.recording, before.recording);
  EXPECT_EQ(accept.resume_token, before.resume_token);
  EXPECT_EQ(accept.next_block, 5u);
  EXPECT_EQ(accept.missing_blocks, 0u);
  EXPECT_EQ(node_.Get(before.recording).state, RecordingState::kRecording);
  GoOn(&*recorder, 12);
  ExpectWhole(before.recording, 12);
}

TEST_P(ResumeTest, AsksForTheFirstThatIsNotThereAndDropsWhatIs) {
  const Accept before = Lose({0, 1, 3, 4, 6}, /*closed=*/true);
  auto recorder = node_.Record(Asks(before, 1));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  EXPECT_EQ(recorder->admission.accept.next_block, 2u);
  GoOn(&*recorder, 9);
  ExpectWhole(before.recording, 9);
}

// A commit level of received lets the worker forget what the node's death takes.
TEST_P(ResumeTest, WhatItsWorkerHasForgottenIsMissingForGood) {
  const Accept before = Lose({0, 1, 2, 5}, /*closed=*/true);
  auto recorder = node_.Record(Asks(before, 8));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  EXPECT_EQ(recorder->admission.accept.next_block, 8u);
  EXPECT_EQ(recorder->admission.accept.missing_blocks, 4u);
  EXPECT_EQ(node_.Get(before.recording).missing_blocks, 4u);
  GoOn(&*recorder, 10);
  ExpectWhole(before.recording, 10, /*missing=*/4);
}

TEST_P(ResumeTest, IsLostAgainAndAgain) {
  Accept accept = Lose({0}, /*closed=*/true);
  for (uint64_t end = 3; end < 12; end += 2) {
    auto recorder = node_.Record(Asks(accept, 0));
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    accept = recorder->admission.accept;
    for (uint64_t i = accept.next_block; i < end; ++i) ASSERT_TRUE(recorder->Push(i).ok());
    ASSERT_TRUE(recorder->Finish(kLost).ok());
  }
  auto recorder = node_.Record(Asks(accept, 11));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  EXPECT_EQ(recorder->admission.accept.next_block, 11u);
  GoOn(&*recorder, 11);
  ExpectWhole(accept.recording, 11);
}

TEST_P(ResumeTest, OfASessionThatSeemsToLiveEndsThatFirst) {
  auto first = node_.Record();
  ASSERT_TRUE(first.ok()) << first.status();
  for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(first->Push(i).ok());
  // As its pump does when the sink says that it has failed.
  std::optional<absl::StatusOr<services::session::Admission>> admission;
  node_.node().sessions().Admit(
      [&] {
        Open open = Asks(first->admission.accept, 0);
        open.channel = "luns/l/channels/c";
        return open;
      }(),
      node_.executor(), std::make_shared<services::session::AdmissionWatch>(),
      [&](auto admitted) { admission.emplace(std::move(admitted)); });
  absl::Status cause;
  ASSERT_TRUE(node_.executor().RunUntil([&] {
    cause = first->admission.sink->status();
    if (!cause.ok()) first->admission.sink->Finish(cause).IgnoreError();
    return admission.has_value();
  }));
  ASSERT_TRUE(admission->ok()) << admission->status();
  EXPECT_EQ(Reason(cause), "PEER_LOST");
  Recorder second{.admission = *std::move(*admission), .executor = &node_.executor()};
  EXPECT_EQ(second.admission.accept.next_block, 4u);
  GoOn(&second, 6);
  ExpectWhole(first->admission.accept.recording, 6);
}

TEST_P(ResumeTest, KeepsMarkersAndHold) {
  const Accept before = Lose({0, 1}, /*closed=*/true);
  const absl::Status marked = node_.node().recorder().AnnotateRecording(
      before.recording, {.sample_start = 5, .sample_count = 1, .label = "burst"});
  ASSERT_TRUE(marked.ok()) << marked;
  auto recorder = node_.Record(Asks(before, 0));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  GoOn(&*recorder, 4);
  const services::Recording recording = node_.Get(before.recording);
  ASSERT_EQ(recording.annotations.size(), 1u);
  EXPECT_EQ(recording.annotations[0].label, "burst");
}

TEST_P(ResumeTest, IsRefusedToOthersAndTheRecordingStays) {
  const Accept before = Lose({0, 1, 2}, /*closed=*/true);
  const auto as_it_was = Shown(before.recording);
  Open open = Asks(before, 0);
  open.resume->token[3] ^= 1;
  EXPECT_EQ(WhyRefused(node_.Record(open).status()), "TOKEN");
  open.resume->token.clear();
  EXPECT_EQ(WhyRefused(node_.Record(open).status()), "TOKEN");
  node_.MakeChannel("d", dataplane::CommitLevel::kDurable);
  open = Asks(before, 0);
  open.channel = "luns/l/channels/d";
  EXPECT_EQ(WhyRefused(node_.Record(open).status()), "CHANNEL");
  open = Asks(before, uint64_t{1} << 30);
  EXPECT_EQ(WhyRefused(node_.Record(open).status()), "GAP");
  open = Asks(before, 0);
  open.resume->recording += "x";
  EXPECT_EQ(WhyRefused(node_.Record(open).status()), "DELETED");
  EXPECT_EQ(Shown(before.recording), as_it_was);
}

TEST_P(ResumeTest, IsRefusedOnceTheRecordingHasEnded) {
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(recorder->Finish().ok());
  const absl::Status status = node_.Record(Asks(recorder->admission.accept, 0)).status();
  EXPECT_EQ(WhyRefused(status), "SEALED");
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("blocks"), "3");
  // Its worker gave up for a reason of its own.
  auto second = node_.Record();
  ASSERT_TRUE(second->Push(0).ok());
  ASSERT_TRUE(second->Finish(absl::DataLossError("the file is damaged")).ok());
  EXPECT_EQ(WhyRefused(node_.Record(Asks(second->admission.accept, 0)).status()), "TOKEN");
}

TEST_P(ResumeTest, IsRefusedAfterAnHourButNotForAStepOfTheClock) {
  const auto clock = std::make_shared<SettableClock>();
  node_.Restart({.clock = clock});
  const Accept before = Lose({0, 1}, /*closed=*/true);
  clock->set_ns = 3 * admission::kResumeLimitNs;
  auto recorder = node_.Record(Asks(before, 0));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  ASSERT_TRUE(recorder->Finish(kLost).ok());
  clock->passed_ns = 2 * admission::kResumeLimitNs;
  EXPECT_EQ(WhyRefused(node_.Record(Asks(before, 0)).status()), "LATE");
}

TEST_P(ResumeTest, ADeletionMeansWhatTheRecordingWas) {
  const Accept before = Lose({0, 1}, /*closed=*/true);
  const std::string etag = node_.Get(before.recording).etag;
  auto recorder = node_.Record(Asks(before, 0));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  GoOn(&*recorder, 4);
  auto& recordings = node_.node().recordings();
  EXPECT_EQ(Reason(recordings.DeleteRecording(before.recording, etag)), "RECORDING_BUSY");
  EXPECT_TRUE(recordings.DeleteRecording(before.recording, node_.Get(before.recording).etag).ok());
}

TEST_P(ResumeTest, WaitsForWhoeverPlaysIt) {
  const Accept before = Lose({0, 1}, /*closed=*/true);
  auto player = node_.Play(before.recording);
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_EQ(Reason(node_.Record(Asks(before, 0)).status()), "RECORDING_BUSY");
  player->source.reset();
  auto recorder = node_.Record(Asks(before, 0));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  GoOn(&*recorder, 3);
  ExpectWhole(before.recording, 3);
}

// What was opened to go on and is let go again is as it was.
TEST_P(ResumeTest, ThatNeverBeginsChangesNothing) {
  const Accept before = Lose({0, 1, 2}, /*closed=*/true);
  const auto as_it_was = Shown(before.recording);
  const uint64_t used = node_.node().luns().GetLun("luns/l")->used_bytes;
  auto watch = std::make_shared<services::session::AdmissionWatch>();
  Open open = Asks(before, 0);
  open.channel = "luns/l/channels/c";
  bool admitted = false;
  node_.node().sessions().Admit(open, node_.executor(), watch, [&](auto) { admitted = true; });
  watch->Leave();
  ASSERT_TRUE(node_.executor().RunUntil([&] {
    return node_.node().Waiting().empty() &&
           node_.Get(before.recording).state == RecordingState::kSalvaged;
  }));
  EXPECT_FALSE(admitted);
  EXPECT_EQ(Shown(before.recording), as_it_was);
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->used_bytes, used);
}

TEST_P(ResumeTest, AfterANodeThatDied) {
  const Accept before = Lose({0, 1, 2, 3, 4, 5}, /*closed=*/false);
  node_.Start();
  auto recorder = node_.Record(Asks(before, 0));
  if (GetParam() == "memory") {
    EXPECT_EQ(WhyRefused(recorder.status()), "DELETED");
    return;
  }
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  EXPECT_GT(recorder->admission.accept.next_block, 0u);
  GoOn(&*recorder, 20);
  ExpectWhole(before.recording, 20);
  node_.Start();
  ExpectWhole(before.recording, 20);
}

// The node dies again: before the recording that goes on has got a block, with some, and while it
// was opened.
TEST_P(ResumeTest, AfterANodeThatDiesAtEachStep) {
  if (GetParam() == "memory") return;
  const Accept before = Lose({0, 1, 2, 3}, /*closed=*/false);
  uint64_t end = 0;
  for (int blocks = 0; blocks < 4; ++blocks) {
    node_.Start();
    auto recorder = node_.Record(Asks(before, 0));
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    const uint64_t next = recorder->admission.accept.next_block;
    EXPECT_GE(next, end);
    for (int i = 0; i < blocks; ++i) ASSERT_TRUE(recorder->Push(next + i).ok());
    const uint64_t all = next + blocks;
    if (blocks % 2 == 0) {
      ASSERT_TRUE(node_.executor().RunUntil(
          [&] { return recorder->admission.sink->watermarks().durable >= all; }));
      end = all;
    }
    recorder->admission = {};
  }
  node_.Start();
  EXPECT_EQ(node_.Get(before.recording).state, RecordingState::kSalvaged);
  EXPECT_GE(node_.Get(before.recording).blocks, end);
  EXPECT_THAT(node_.Verify(before.recording), IsEmpty());
  auto recorder = node_.Record(Asks(before, 0));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  GoOn(&*recorder, 30);
  ExpectWhole(before.recording, 30);
}

std::string ResumeStoreName(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Stores, ResumeTest, testing::Values("posix", "direct", "device", "memory"),
                         ResumeStoreName);

TEST(Resume, OnSeveralMembersAndWithAShortLastBlock) {
  NodeFixture node("posix", 3);
  auto recorder = node.Record();
  for (uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(recorder->Push(7, 8'192, dataplane::kBlockPartial).ok());
  ASSERT_TRUE(recorder->Finish(kLost).ok());
  const Accept before = recorder->admission.accept;
  Open open{.resume = Resume{.recording = before.recording, .token = before.resume_token}};
  auto second = node.Record(open);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->admission.accept.next_block, 8u);
  ASSERT_TRUE(second->Finish().ok());
  EXPECT_EQ(node.Get(before.recording).bytes, 7 * kBlockBytes + 8'192);
  EXPECT_EQ(std::filesystem::file_size(node.Directory(before.recording, 1) + "/data"),
            2 * kBlockBytes + 8'192);
  EXPECT_THAT(node.Verify(before.recording), IsEmpty());
  EXPECT_EQ(node.PlayAll(before.recording).size(), 8u);
}

}  // namespace
}  // namespace tapedeck::storage_node
