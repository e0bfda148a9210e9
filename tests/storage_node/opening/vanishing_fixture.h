// A node whose member goes away while it is in use: what sessions are told, and what becomes of the
// LUN.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {

class Vanishing {
 protected:
  explicit Vanishing(const std::string& kind) : deck_(kind) {}

  std::string member() const { return deck_.dir().path() + "/m0"; }
  void MoveAway() { std::filesystem::rename(member(), member() + "-away"); }
  void PutBack() { std::filesystem::rename(member() + "-away", member()); }

  // With so many blocks, which are acknowledged as durable.
  Recorder Begin(uint64_t blocks) {
    auto recorder = deck_.Record();
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder->Push(i).ok()) << i;
    const auto& sink = *recorder->admission.sink;
    EXPECT_TRUE(deck_.executor().RunUntil([&] { return sink.watermarks().durable == blocks; }));
    return *std::move(recorder);
  }

  // What the session is told without a block coming: within a second, but for a slow machine.
  absl::Status Told(const Recorder& recorder) {
    const auto& sink = *recorder.admission.sink;
    const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(5);
    deck_.executor().RunUntil(
        [&] { return !sink.status().ok() || dataplane::SteadyTime() > deadline; });
    return sink.status();
  }

  void ExpectEnded(Recorder& recorder, const absl::Status& told) {
    EXPECT_EQ(told.code(), absl::StatusCode::kInternal) << told;
    EXPECT_EQ(Reason(told), "STORE_IO");
    EXPECT_THAT(std::string(told.message()), testing::HasSubstr(member()));
    EXPECT_EQ(recorder.Finish(told), told);
  }

  services::Lun Lun() { return deck_.node().luns().GetLun("luns/l").value_or(services::Lun()); }

  bool Becomes(services::LunState state) {
    const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(10);
    while (Lun().state != state && dataplane::SteadyTime() < deadline)
      absl::SleepFor(absl::Milliseconds(20));
    return Lun().state == state;
  }

  void ExpectOffline() {
    EXPECT_TRUE(Becomes(services::LunState::kOffline));
    EXPECT_THAT(Lun().cause, testing::HasSubstr(member()));
    EXPECT_EQ(Reason(deck_.Record().status()), "LUN_OFFLINE");
  }

  NodeFixture deck_;
};

}  // namespace tapedeck::storage_node
