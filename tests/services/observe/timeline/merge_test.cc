#include <gtest/gtest.h>

#include "services/observe/timeline/timeline.h"

namespace tapedeck::services::timeline {
namespace {

using dataplane::flight::Kind;
using flight::Entry;

constexpr int64_t kAhead = 3'000'000'000;  // of the storage node's clock

NodeTrace Worker(std::vector<Entry> entries) {
  NodeTrace node{.address = "w:1"};
  node.trace.role = NodeRole::kWorker;
  node.trace.trails = {
      {.id = 1,
       .session = "s1",
       .job = "jobs/1",
       .storage = "s:1",
       .rails = {"r0"},
       .clocks = {{.at_ns = 1'000'000, .offset_ns = kAhead + 300, .uncertainty_ns = 50'000}}}};
  node.trace.threads = {{.thread = "session-0", .entries = std::move(entries)}};
  return node;
}

NodeTrace Storage(std::vector<Entry> entries) {
  NodeTrace node{.address = "s:1"};
  node.trace.trails = {{.id = 9, .session = "s1", .recording = "luns/l/channels/c/recordings/r"}};
  node.trace.threads = {{.thread = "session-1", .entries = std::move(entries)}};
  return node;
}

TEST(MergeTest, PutsBothNodesOnTheWorkersClock) {
  const Merged merged = Merge(
      {Worker({{.time_ns = 1'000'000, .sequence = 5, .trail = 1, .kind = Kind::kRail},
               {.time_ns = 1'900'000, .sequence = 5, .trail = 1, .kind = Kind::kAcknowledged}}),
       Storage(
           {{.time_ns = kAhead + 1'500'000, .sequence = 5, .trail = 9, .kind = Kind::kArrived}})},
      100);
  ASSERT_EQ(merged.sessions.size(), 1u);
  EXPECT_EQ(merged.sessions[0].job, "jobs/1");
  EXPECT_EQ(merged.sessions[0].recording, "luns/l/channels/c/recordings/r");
  ASSERT_EQ(merged.moments.size(), 3u);
  EXPECT_EQ(merged.moments[1].entry.kind, Kind::kArrived);
  EXPECT_EQ(merged.moments[1].node, 1u);
  EXPECT_NEAR(static_cast<double>(merged.moments[1].time_ns), 1'500'000, 50'000);
  EXPECT_TRUE(merged.clocks[1].known);
  EXPECT_NEAR(static_cast<double>(merged.clocks[1].first.offset_ns), kAhead, 1'000);
  EXPECT_GE(merged.clocks[1].uncertainty_ns, 50'000);
  EXPECT_LT(merged.clocks[1].uncertainty_ns, 60'000);
}

TEST(MergeTest, WhatTheStorageNodeHasMeasuredCountsToo) {
  NodeTrace worker = Worker({{.time_ns = 1'000'000, .trail = 1, .kind = Kind::kRail}});
  worker.trace.trails[0].clocks.clear();
  NodeTrace storage =
      Storage({{.time_ns = kAhead + 1'500'000, .trail = 9, .kind = Kind::kArrived}});
  storage.trace.trails[0].clocks = {
      {.at_ns = kAhead + 1'200'000, .offset_ns = -kAhead, .uncertainty_ns = 100}};
  const Merged merged = Merge({worker, storage}, 100);
  EXPECT_TRUE(merged.clocks[1].known);
  EXPECT_NEAR(static_cast<double>(merged.moments[1].time_ns), 1'500'000, 2'000);
}

TEST(MergeTest, ANodeAloneHasItsOwnClock) {
  const Merged merged = Merge({Storage({{.time_ns = 77, .trail = 9, .kind = Kind::kArrived},
                                        {.time_ns = 78, .trail = 4, .kind = Kind::kArrived}})},
                              100);
  ASSERT_EQ(merged.moments.size(), 1u);  // of trail 4 nobody knows anything
  EXPECT_EQ(merged.moments[0].time_ns, 77);
}

TEST(MergeTest, SessionsOfOtherStorageNodesAreOthers) {
  NodeTrace storage = Storage({});
  storage.address = "s:2";
  const Merged merged = Merge({Worker({}), storage}, 100);
  EXPECT_EQ(merged.sessions.size(), 2u);
  EXPECT_FALSE(merged.clocks[1].known);
}

TEST(MergeTest, TheOldestAreLeftOut) {
  std::vector<Entry> entries;
  for (int64_t i = 0; i < 10; ++i)
    entries.push_back({.time_ns = i, .trail = 1, .kind = Kind::kMade});
  const Merged merged = Merge({Worker(entries)}, 4);
  EXPECT_EQ(merged.left_out, 6u);
  ASSERT_EQ(merged.moments.size(), 4u);
  EXPECT_EQ(merged.moments[0].time_ns, 6);
}

}  // namespace
}  // namespace tapedeck::services::timeline
