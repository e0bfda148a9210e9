// A node with a LUN that keeps two copies.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "tests/scratch_file.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {

class MirrorTest : public testing::Test {
 protected:
  explicit MirrorTest(const std::string& store = "posix", uint64_t capacity_bytes = 64 << 20)
      : deck_(store, 2, capacity_bytes, 0, 2) {}

  std::string Member(int member) const {
    return deck_.dir().path() + "/m" + std::to_string(member);
  }
  void MoveAway(int member) const { std::filesystem::rename(Member(member), Member(member) + "-"); }
  void PutBack(int member) const { std::filesystem::rename(Member(member) + "-", Member(member)); }

  services::Lun Lun() { return deck_.node().luns().GetLun("luns/l").value_or(services::Lun()); }
  // Until it says so, and has `cause` in why.
  ::testing::AssertionResult Becomes(services::LunState state, const std::string& cause = "") {
    const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(20);
    const auto is = [&] {
      return Lun().state == state && Lun().cause.find(cause) != std::string::npos;
    };
    // Sessions let go of a member that has gone.
    deck_.executor().RunUntil([&] {
      absl::SleepFor(absl::Milliseconds(5));
      return is() || dataplane::SteadyTime() > deadline;
    });
    if (is()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << services::model::NameOf(Lun().state) << ": " << Lun().cause;
  }

  services::Scrub Scrub() {
    const auto started = deck_.node().scrubs().StartScrub(
        {.parent = "luns/l", .rate_bytes_per_s = uint64_t{1} << 40, .restart = true});
    EXPECT_TRUE(started.ok()) << started.status();
    return deck_.EndScrub("luns/l");
  }
  // After which both copies are whole.
  void ExpectScrubMends() {
    const services::Scrub scrub = Scrub();
    EXPECT_EQ(scrub.state, services::ScrubState::kDone) << scrub.cause;
    EXPECT_EQ(scrub.repaired, scrub.damaged) << scrub.findings.back().block.detail;
    EXPECT_EQ(Lun().state, services::LunState::kReady) << Lun().cause;
  }

  // That all play, without a gap.
  void ExpectPlays(const std::string& recording, uint64_t blocks) {
    const auto headers = deck_.PlayAll(recording);
    EXPECT_EQ(headers.size(), blocks);
    for (const auto& header : headers) {
      EXPECT_EQ(header.flags & dataplane::kBlockMissing, 0u) << header.sequence;
    }
  }

  static std::string TextOf(const std::string& path) { return ReadFile(path); }
  // Of the payload; an index says which copy it is.
  void ExpectSameData(const std::string& recording) const {
    EXPECT_TRUE(TextOf(deck_.Directory(recording, 0) + "/data") ==
                TextOf(deck_.Directory(recording, 1) + "/data"));
    EXPECT_EQ(TextOf(deck_.Directory(recording, 0) + "/manifest.json"),
              TextOf(deck_.Directory(recording, 1) + "/manifest.json"));
  }

  // Pushes the blocks from `first` on and waits until they are durable.
  void PushDurably(Recorder& recorder, uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; ++i) ASSERT_TRUE(recorder.Push(i).ok()) << i;
    const auto& sink = *recorder.admission.sink;
    EXPECT_TRUE(
        deck_.executor().RunUntil([&] { return sink.watermarks().durable == first + count; }));
    EXPECT_TRUE(sink.status().ok()) << sink.status();
  }

  NodeFixture deck_;
};

}  // namespace tapedeck::storage_node
