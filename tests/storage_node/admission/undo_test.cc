// What was prepared for a session that never came keeps its room until all is as before.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "storage_node/admission/new_recording.h"
#include "storage_node/admission/resumed.h"
#include "tests/storage_node/node_contents.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::session::Open;
using services::session::Resume;

class UndoTest : public testing::Test {
 protected:
  UndoTest() {
    const auto lun = luns_.CreateLun({.name = "luns/l",
                                      .store = "posix",
                                      .members = {dir_.Make("m")},
                                      .capacity_bytes = 64 << 20},
                                     "");
    EXPECT_TRUE(lun.ok()) << lun.status();
    const auto channel = channels_.CreateChannel({.name = "luns/l/channels/c",
                                                  .block_bytes = kBlockBytes,
                                                  .datatype = "cf32_le",
                                                  .sample_rate = 1e9,
                                                  .commit = dataplane::CommitLevel::kDurable},
                                                 "");
    EXPECT_TRUE(channel.ok()) << channel.status();
  }

  uint64_t used() const { return contents_->luns.Find("l").value()->capacity->used(); }

  // While the LUN's queue does nothing else: what somebody else could take then is not taken by it.
  void ExpectHeldUntilUndone(std::optional<capture::ArmRecording> prepared, uint64_t before) {
    const uint64_t held = used();
    EXPECT_GT(held, before);
    const auto queue = contents_->luns.queues().Of("l");
    absl::Notification go_on;
    queue->Run([&] { go_on.WaitForNotification(); });
    prepared.reset();
    EXPECT_EQ(used(), held);
    go_on.Notify();
    ASSERT_TRUE(executor_.RunUntil([&] { return queue->waiting() == 0; }));
    EXPECT_EQ(used(), before);
  }

  // Of a session that was lost with so many blocks.
  Open RecordAndLose(uint64_t blocks) {
    std::optional<absl::StatusOr<services::session::Admission>> admission;
    sessions_.Admit({.direction = services::session::Direction::kRecord, .channel = kChannel},
                    executor_, std::make_shared<services::session::AdmissionWatch>(),
                    [&](auto admitted) { admission.emplace(std::move(admitted)); });
    EXPECT_TRUE(executor_.RunUntil([&] { return admission.has_value(); }));
    Recorder recorder{.admission = *std::move(*admission), .executor = &executor_};
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder.Push(i).ok());
    EXPECT_TRUE(recorder.Finish(services::PeerLost("worker", "gone")).ok());
    const services::session::Accept& accept = recorder.admission.accept;
    return {.direction = services::session::Direction::kRecord,
            .channel = kChannel,
            .resume = Resume{.recording = accept.recording, .token = accept.resume_token}};
  }

  static constexpr char kChannel[] = "luns/l/channels/c";

  const TempDir dir_;
  ManualExecutor executor_;
  capture::LiveTriggers triggers_;
  const std::unique_ptr<node::NodeContents> contents_ = MakeNodeContents(dir_.Make("state"));
  node::LunService luns_{contents_->recordings};
  node::ChannelService channels_{contents_->recordings};
  admission::NodeResources resources_{
      .luns = contents_->luns,
      .recordings = contents_->recordings,
      .triggers = triggers_,
      .rings = {},
      .verifier = std::make_shared<recording::WriteVerifier>(std::mt19937_64(1)),
      .follow_memory = nullptr};
  admission::RecordingHost sessions_{resources_};
  const std::shared_ptr<dataplane::ArrivalCrcs> arrivals_ =
      std::make_shared<dataplane::ArrivalCrcs>(format::PieceBytesOf(kBlockBytes));
};

TEST_F(UndoTest, ANewRecordingKeepsItsRoomUntilItsFilesAreGone) {
  const Open open{.direction = services::session::Direction::kRecord,
                  .channel = kChannel,
                  .expected_blocks = 16};
  const auto target = admission::FindTarget(resources_, open);
  ASSERT_TRUE(target.ok()) << target.status();
  auto prepared = admission::PrepareRecording(resources_, *target, 8, arrivals_, executor_);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  ExpectHeldUntilUndone(*std::move(prepared), 0);
}

TEST_F(UndoTest, OneThatWasToGoOnNeverGivesUpWhatItHas) {
  const Open open = RecordAndLose(3);
  ASSERT_TRUE(executor_.RunUntil([&] { return contents_->luns.queues().Of("l")->waiting() == 0; }));
  const uint64_t before = used();
  EXPECT_EQ(before, Takes("posix", 3));
  const auto found = admission::FindResumable(resources_, open);
  ASSERT_TRUE(found.ok()) << found.status();
  admission::Resumable more = *found;
  more.target.open.expected_blocks = 16;
  auto resumed = admission::Reopen(resources_, more, 8, arrivals_, executor_);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_EQ(resumed->recordings.size(), 1u);
  ExpectHeldUntilUndone(std::move(resumed->recordings[0]), before);
}

}  // namespace
}  // namespace tapedeck::storage_node
