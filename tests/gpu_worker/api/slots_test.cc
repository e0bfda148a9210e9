// Slots of programs, in the order of the host and of streams, against a real storage node.

#include <atomic>

#include "dataplane/deadline.h"
#include "tests/gpu_worker/api/slot_fixture.h"

namespace tapedeck::gpu_worker::api {
namespace {

class SlotsTest : public SlotFixture, public testing::WithParamInterface<Where> {};

INSTANTIATE_TEST_SUITE_P(All, SlotsTest, testing::Values(Where::kInRing, Where::kBeside),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(SlotsTest, InTheOrderOfTheHost) {
  Start(GetParam());
  const std::string recording = RecordBlocks(100);
  const auto session = OpenPlayer(recording).value();
  for (uint64_t i = 0; i < 100; ++i) {
    const Slot slot = session->play()->NextNow(Soon()).value();
    ASSERT_NE(slot.data, nullptr);
    EXPECT_EQ(slot.info->number, i);
    EXPECT_EQ(slot.info->sample_index, i * kBlock / kSampleBytes);
    EXPECT_EQ(slot.bytes, kBlock);
    ASSERT_TRUE(Holds(slot.data, i)) << i;
    ASSERT_TRUE(session->play()->ReleaseNow(slot).ok());
  }
  EXPECT_EQ(session->play()->NextNow(Soon()).value().data, nullptr);
  EXPECT_TRUE(session->AwaitEnd(Soon()));
  EXPECT_TRUE(session->snapshot().error.ok()) << session->snapshot().error;
  session->Close(Soon());
}

TEST_P(SlotsTest, InTheOrderOfAStream) {
  Start(GetParam());
  const auto recorder = OpenRecorder().value();
  for (uint64_t i = 0; i < 100; ++i) {
    const Slot slot = recorder->record()->Acquire(stream()).value();
    Launch([slot] { Fill(slot.data, slot.number); });
    ASSERT_TRUE(recorder->record()->Send(stream(), slot, kBlock).ok());
  }
  const std::string recording = Finish(*recorder);

  const auto player = OpenPlayer(recording).value();
  std::atomic<int> right = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    const Slot slot = player->play()->Next(stream()).value();
    Launch([slot, i, &right] {
      if (slot.info->state == BlockInfo::kBlock && slot.info->number == i && Holds(slot.data, i)) {
        ++right;
      }
    });
    ASSERT_TRUE(player->play()->Release(stream(), slot).ok());
  }
  std::atomic<uint64_t> behind = BlockInfo::kBlock;
  const Slot none = player->play()->Next(stream()).value();
  Launch([none, &behind] { behind = none.info->state; });
  ASSERT_TRUE(player->play()->Release(stream(), none).ok());
  ASSERT_TRUE(stream_->Synchronize(Soon()));
  EXPECT_EQ(right, 100);
  EXPECT_EQ(behind, BlockInfo::kEnd);
  player->Close(Soon());
}

// Each acquires before it knows whether the others have sent.
TEST_P(SlotsTest, OfManyStreamsAtOnce) {
  Start(GetParam());
  constexpr int kStreams = 32;
  std::vector<std::unique_ptr<device::ThreadStream>> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(device::ThreadStream::Create().value());
  const auto recorder = OpenRecorder(64).value();
  for (int round = 0; round < 4; ++round) {
    for (const auto& stream : streams) {
      const Slot slot = recorder->record()->Acquire(stream.get()).value();
      stream->Enqueue([slot](const auto&) { Fill(slot.data, slot.number); });
      ASSERT_TRUE(recorder->record()->Send(stream.get(), slot, kBlock).ok());
    }
  }
  const std::string recording = Finish(*recorder);
  const auto player = OpenPlayer(recording).value();
  for (uint64_t i = 0; i < 4 * kStreams; ++i) {
    const Slot slot = player->play()->NextNow(Soon()).value();
    ASSERT_NE(slot.data, nullptr);
    ASSERT_TRUE(Holds(slot.data, i)) << i;
    ASSERT_TRUE(player->play()->ReleaseNow(slot).ok());
  }
  player->Close(Soon());
}

TEST_P(SlotsTest, TheLastBlockMayBeShorter) {
  Start(GetParam());
  const auto recorder = OpenRecorder().value();
  RecordSlots& slots = *recorder->record();
  Slot slot = slots.AcquireNow(Soon()).value();
  Fill(slot.data, 0);
  ASSERT_TRUE(slots.SendNow(slot, kBlock).ok());
  slot = slots.AcquireNow(Soon()).value();
  Fill(slot.data, 1);
  ASSERT_TRUE(slots.SendNow(slot, 64).ok());
  EXPECT_EQ(ReasonOf(slots.AcquireNow(Soon()).status()), "ARGUMENT_INVALID");
  const auto player = OpenPlayer(Finish(*recorder)).value();
  EXPECT_EQ(player->play()->NextNow(Soon()).value().bytes, kBlock);
  const Slot last = player->play()->NextNow(Soon()).value();
  EXPECT_EQ(last.bytes, 64u);
  EXPECT_TRUE(Holds(last.data, 1, 64));
  player->Close(Soon());
}

TEST_P(SlotsTest, ARecorderThatGoesWithoutAFinishKeepsWhatWasSent) {
  Start(GetParam());
  const auto recorder = OpenRecorder(64).value();
  for (int i = 0; i < 40; ++i) {
    const Slot slot = recorder->record()->Acquire(stream()).value();
    Launch([slot] { Fill(slot.data, slot.number); });
    ASSERT_TRUE(recorder->record()->Send(stream(), slot, kBlock).ok());
  }
  recorder->Close(Soon());
  EXPECT_EQ(recorder->snapshot().blocks, 40u);
}

// It still waits for the slot, or uses it, when the program lets go.
TEST_P(SlotsTest, AStreamThatWasToldHalfOfItIsWaitedFor) {
  Start(GetParam());
  const auto player = OpenPlayer(RecordBlocks(2)).value();
  Launch([] { absl::SleepFor(absl::Milliseconds(200)); });
  ASSERT_TRUE(player->play()->Next(stream()).ok());
  ASSERT_TRUE(player->play()->Next(stream()).ok());
  ASSERT_TRUE(player->play()->Next(stream()).ok());  // of which there is no block
  player->Close(dataplane::Deadline::In(absl::Seconds(5)));
  EXPECT_TRUE(stream_->Synchronize(dataplane::Deadline::In(absl::ZeroDuration())));
  const auto recorder = OpenRecorder().value();
  Launch([] { absl::SleepFor(absl::Milliseconds(200)); });
  ASSERT_TRUE(recorder->record()->Acquire(stream()).ok());
  recorder->Close(dataplane::Deadline::In(absl::Seconds(5)));
  EXPECT_TRUE(stream_->Synchronize(dataplane::Deadline::In(absl::ZeroDuration())));
}

TEST_P(SlotsTest, AStreamThatIsGoneHoldsUpNothing) {
  Start(GetParam());
  const auto recorder = OpenRecorder().value();
  const Slot slot = recorder->record()->Acquire(stream()).value();
  Launch([] { absl::SleepFor(absl::Milliseconds(100)); });
  ASSERT_TRUE(recorder->record()->Send(stream(), slot, kBlock).ok());
  stream_.reset();
  recorder->Close(dataplane::Deadline::In(absl::Seconds(1)));
  EXPECT_TRUE(recorder->record()
                  ->control()
                  .AwaitStreams(dataplane::Deadline::In(absl::ZeroDuration()))
                  .ok());
}

TEST_P(SlotsTest, BlocksMayBeSentInAnyOrderTheShortOneToo) {
  Start(GetParam());
  const auto recorder = OpenRecorder().value();
  RecordSlots& slots = *recorder->record();
  const Slot first = slots.AcquireNow(Soon()).value();
  const Slot second = slots.AcquireNow(Soon()).value();
  Fill(first.data, 0);
  Fill(second.data, 1);
  ASSERT_TRUE(slots.SendNow(second, 64).ok());
  ASSERT_TRUE(slots.SendNow(first, kBlock).ok());
  const auto player = OpenPlayer(Finish(*recorder)).value();
  EXPECT_TRUE(Holds(player->play()->NextNow(Soon()).value().data, 0));
  EXPECT_EQ(player->play()->NextNow(Soon()).value().bytes, 64u);
  player->Close(Soon());
}

// The stream has not come to the slot that another one sends.
TEST_P(SlotsTest, ASlotOfOneStreamIsSentByAnother) {
  Start(GetParam());
  const auto other = device::ThreadStream::Create().value();
  const auto recorder = OpenRecorder().value();
  RecordSlots& slots = *recorder->record();
  for (int i = 0; i < 24; ++i) {
    const Slot slot = slots.Acquire(stream()).value();
    Launch([slot] {
      absl::SleepFor(absl::Milliseconds(2));
      Fill(slot.data, slot.number);
    });
    ASSERT_TRUE(stream_->Synchronize(Soon()));
    ASSERT_TRUE(
        (i % 2 == 0 ? slots.SendNow(slot, kBlock) : slots.Send(other.get(), slot, kBlock)).ok());
  }
  EXPECT_EQ(slots.AwaitSent(Soon()).value(), 24u);
  Finish(*recorder);
}

TEST_P(SlotsTest, AnEndIsNotTheBlocksOfTheLastRound) {
  Start(GetParam());
  const auto player = OpenPlayer(RecordBlocks(8), 8).value();
  PlaySlots& slots = *player->play();
  Launch([] { absl::SleepFor(absl::Milliseconds(300)); });
  for (int i = 0; i < 8; ++i) {
    const Slot slot = slots.Next(stream()).value();
    ASSERT_TRUE(slots.Release(stream(), slot).ok());
  }
  const Slot end = slots.NextNow(Soon()).value();
  EXPECT_EQ(end.data, nullptr);
  EXPECT_EQ(end.info->state, BlockInfo::kEnd);
  player->Close(Soon());
}

// What is sent later does not keep it from ending.
TEST_P(SlotsTest, AWaitIsForWhatWasSentBefore) {
  Start(GetParam());
  const auto recorder = OpenRecorder().value();
  RecordSlots& slots = *recorder->record();
  const Slot slot = slots.AcquireNow(Soon()).value();
  ASSERT_TRUE(slots.SendNow(slot, kBlock).ok());
  ASSERT_EQ(slots.AwaitSent(Soon()).value(), 1u);
  EXPECT_TRUE(recorder->AwaitCommitted(1, Soon()));
  recorder->Close(Soon());
}

TEST_P(SlotsTest, AStreamThatWaitsForABlockGoesOnAtTheEnd) {
  Start(GetParam());
  const auto player = OpenPlayer(RecordBlocks(3)).value();
  std::atomic<int> blocks = 0;
  std::atomic<int> ends = 0;
  for (int i = 0; i < 20; ++i) {
    const Slot slot = player->play()->Next(stream()).value();
    Launch([slot, &blocks, &ends] { ++(slot.info->state == BlockInfo::kBlock ? blocks : ends); });
    ASSERT_TRUE(player->play()->Release(stream(), slot).ok());
  }
  ASSERT_TRUE(stream_->Synchronize(Soon()));
  EXPECT_EQ(blocks, 3);
  EXPECT_EQ(ends, 17);
  player->Close(Soon());
}

TEST_P(SlotsTest, APlayerThatIsClosedEarlyLetsItsStreamGoOn) {
  Start(GetParam());
  const auto player = OpenPlayer(RecordBlocks(50)).value();
  const Slot slot = player->play()->Next(stream()).value();
  ASSERT_TRUE(player->play()->Release(stream(), slot).ok());
  EXPECT_EQ(ReasonOf(player->play()->Release(stream(), slot)), "ARGUMENT_INVALID");
  player->Close(Soon());
  EXPECT_TRUE(stream_->Synchronize(Soon()));
}

TEST_P(SlotsTest, TheProxyThatSpinsRecordsTheSame) {
  Start(GetParam(), ProxyMode::kPerformance);
  const auto player = OpenPlayer(RecordBlocks(200)).value();
  for (uint64_t i = 0; i < 200; ++i) {
    const Slot slot = player->play()->NextNow(Soon()).value();
    ASSERT_TRUE(Holds(slot.data, i)) << i;
    ASSERT_TRUE(player->play()->ReleaseNow(slot).ok());
  }
  player->Close(Soon());
}

TEST_P(SlotsTest, OpenedAgainAndAgain) {
  Start(GetParam());
  const std::string recording = RecordBlocks(2);
  for (int i = 0; i < 20; ++i) {
    const auto player = OpenPlayer(recording).value();
    ASSERT_NE(player->play()->NextNow(Soon()).value().data, nullptr);
    player->Close(Soon());
  }
}

}  // namespace
}  // namespace tapedeck::gpu_worker::api
