// What a program gets wrong with slots, and what it is told when a session cannot go on.

#include <atomic>

#include "absl/strings/match.h"
#include "dataplane/deadline.h"
#include "tests/gpu_worker/api/slot_fixture.h"

namespace tapedeck::gpu_worker::api {
namespace {

class SlotRefusalsTest : public SlotFixture, public testing::WithParamInterface<Where> {};

INSTANTIATE_TEST_SUITE_P(All, SlotRefusalsTest, testing::Values(Where::kInRing, Where::kBeside),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(SlotRefusalsTest, MisuseIsRefusedByName) {
  Start(GetParam());
  const auto recorder = OpenRecorder().value();
  RecordSlots& slots = *recorder->record();
  const Slot slot = slots.Acquire(stream()).value();
  EXPECT_EQ(ReasonOf(slots.Send(stream(), slot, kBlock + kSampleBytes)), "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonOf(slots.Send(stream(), slot, 0)), "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonOf(slots.Send(stream(), slot, 12)), "ARGUMENT_INVALID");  // half a sample
  EXPECT_EQ(ReasonOf(slots.Acquire(nullptr).status()), "ARGUMENT_INVALID");
  ASSERT_TRUE(slots.Send(stream(), slot, kBlock).ok());
  const absl::Status twice = slots.Send(stream(), slot, kBlock);
  EXPECT_EQ(ReasonOf(twice), "ARGUMENT_INVALID");
  EXPECT_TRUE(absl::StrContains(twice.message(), "block 0 was sent already")) << twice.message();
  // All acquired and none sent: the stream would wait for itself.
  for (size_t i = 0; i < slots.slots(); ++i) ASSERT_TRUE(slots.Acquire(stream()).ok()) << i;
  const auto starved = slots.Acquire(stream());
  EXPECT_EQ(ReasonOf(starved.status()), "ARGUMENT_INVALID");
  EXPECT_TRUE(absl::StrContains(starved.status().message(), "was not sent yet"))
      << starved.status().message();
  ASSERT_TRUE(stream_->Synchronize(Soon()));
  recorder->Close(Soon());
}

TEST_P(SlotRefusalsTest, ASlotLeftOutIsNamedAtTheEnd) {
  Start(GetParam());
  const auto recorder = OpenRecorder().value();
  RecordSlots& slots = *recorder->record();
  ASSERT_TRUE(slots.AcquireNow(Soon()).ok());
  const Slot second = slots.AcquireNow(Soon()).value();
  ASSERT_TRUE(slots.SendNow(second, kBlock).ok());
  EXPECT_EQ(ReasonOf(slots.Close(Soon())), "ARGUMENT_INVALID");
  recorder->Close(Soon());
}

// The ring is full and a stream waits for a slot of it as the session is lost.
TEST_P(SlotRefusalsTest, ALostSessionFreesEveryStream) {
  Start(GetParam());
  const auto recorder = OpenRecorder(8).value();
  RecordSlots& slots = *recorder->record();
  HoldNode();
  for (int i = 0; i < 24; ++i) {
    const Slot slot = slots.Acquire(stream()).value();
    ASSERT_TRUE(slots.Send(stream(), slot, kBlock).ok());
  }
  EXPECT_FALSE(stream_->Synchronize(dataplane::Deadline::In(absl::Milliseconds(100))));
  slots.Fail(absl::UnavailableError("the node is gone"));
  EXPECT_TRUE(stream_->Synchronize(Soon()));
  EXPECT_EQ(slots.Acquire(stream()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(slots.AcquireNow(Soon()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::atomic_ref(*slots.control().failed()).load(), 0u);
  LetNodeGo();
  recorder->Close(Soon());
}

TEST_P(SlotRefusalsTest, AfterAFinishNothingIsSent) {
  Start(GetParam());
  const auto recorder = OpenRecorder().value();
  RecordSlots& slots = *recorder->record();
  const Slot first = slots.AcquireNow(Soon()).value();
  const Slot second = slots.AcquireNow(Soon()).value();
  ASSERT_TRUE(slots.SendNow(first, kBlock).ok());
  ASSERT_TRUE(slots.Close(Soon()).ok());
  EXPECT_EQ(ReasonOf(slots.SendNow(second, kBlock)), "ARGUMENT_INVALID");
  recorder->Close(Soon());
}

TEST_P(SlotRefusalsTest, SlotsAreCountedAtTheDoor) {
  Start(GetParam());
  for (const uint32_t slots : {1u, 7u, 4097u}) {
    EXPECT_EQ(ReasonOf(OpenRecorder(slots).status()), "ARGUMENT_INVALID") << slots;
  }
  EXPECT_EQ(ReasonOf(OpenPlayer("luns/l/channels/c/recordings/r", 4097).status()),
            "ARGUMENT_INVALID");
}

TEST_P(SlotRefusalsTest, WhatIsNotThereIsSaidByName) {
  Start(GetParam());
  EXPECT_EQ(ReasonOf(OpenRecorder(8, "luns/l/channels/none").status()), "CHANNEL_NOT_FOUND");
  EXPECT_EQ(ReasonOf(OpenPlayer("luns/l/channels/c/recordings/none").status()),
            "RECORDING_NOT_FOUND");
}

TEST_P(SlotRefusalsTest, AFullLunIsToldAndNothingWaits) {
  Start(GetParam(), ProxyMode::kEconomy, 2 << 20);
  const auto recorder = OpenRecorder().value();
  absl::Status status;
  for (int i = 0; i < 5000 && status.ok(); ++i) {
    const auto slot = recorder->record()->AcquireNow(Soon());
    status = slot.status();
    if (status.ok()) status = recorder->record()->SendNow(*slot, kBlock);
  }
  EXPECT_EQ(ReasonOf(status), "LUN_FULL") << status;
  recorder->Close(Soon());
}

}  // namespace
}  // namespace tapedeck::gpu_worker::api
