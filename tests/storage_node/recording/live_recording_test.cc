#include "storage_node/recording/live_recording.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"

namespace tapedeck::storage_node::recording {
namespace {

using services::Recording;
using services::RecordingUpdate;

// Two changes, each of which fits alone, must not both be checked against the same notes.
TEST(LiveRecordingTest, ADescriptionIsCheckedWithAllThatIsNoted) {
  LiveRecording live;
  std::string seen;
  std::thread other;
  const auto label = [&] {
    const auto update = RecordingUpdate{}.Set(&Recording::labels, {{"site", "north"}});
    EXPECT_TRUE(live.Describe(update, {},
                              [&](const Recording& after) {
                                seen = after.description;
                                return absl::OkStatus();
                              })
                    .ok());
  };
  const auto words = RecordingUpdate{}.Set(&Recording::description, "first light");
  EXPECT_TRUE(live.Describe(words, {},
                            [&](const Recording&) {
                              other = std::thread(label);
                              absl::SleepFor(
                                  absl::Milliseconds(50));  // time to overtake, if that could be
                              return absl::OkStatus();
                            })
                  .ok());
  other.join();
  EXPECT_EQ(seen, "first light");
}

TEST(LiveRecordingTest, WhatIsRefusedIsNotNoted) {
  LiveRecording live;
  const auto words = RecordingUpdate{}.Set(&Recording::description, "first light");
  const auto refuse = [](const Recording&) { return absl::ResourceExhaustedError("no room"); };
  EXPECT_TRUE(absl::IsResourceExhausted(live.Describe(words, {}, refuse).status()));
  EXPECT_EQ(live.Noted({}).description, "");
  EXPECT_EQ(live.notes().changes, 0u);
}

TEST(LiveRecordingTest, ItsEndIsWaitedFor) {
  LiveRecording live;
  EXPECT_FALSE(live.AwaitClosed(dataplane::Deadline::In(absl::Milliseconds(5))));
  std::thread writer([&] { live.Close({}); });
  EXPECT_TRUE(live.AwaitClosed(dataplane::Deadline::In(absl::Seconds(20))));
  writer.join();
}

}  // namespace
}  // namespace tapedeck::storage_node::recording
