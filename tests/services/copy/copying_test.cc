// What a copy asks of its channel, and where its checkpoint is kept. Copies between nodes:
// tests/e2e/kills.sh copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "dataplane/now.h"
#include "dataplane/reason.h"
#include "services/copy/checkpoint_file.h"
#include "services/copy/compatible.h"
#include "services/copy/copy.h"
#include "services/copy/pace.h"

namespace tapedeck::services::copying {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kToken(16, '\xab');

CopyRequest RequestTo(const std::string& channel) {
  return {.to = {.address = "node:7400"},
          .source = {.name = "luns/l/channels/c/recordings/r", .uid = "u-1"},
          .channel = {.name = channel}};
}

class CheckpointFileTest : public testing::Test {
 protected:
  ~CheckpointFileTest() override { std::filesystem::remove_all(root_); }

  const std::string root_ = testing::TempDir() + "/places" + std::to_string(getpid());
  const CheckpointFile file_{root_ + "/copies", RequestTo("luns/l/channels/d")};
};

TEST_F(CheckpointFileTest, KeepsACheckpointForItsOwnerAlone) {
  EXPECT_FALSE(file_.Read().has_value());
  ASSERT_TRUE(file_.Write({.recording = "luns/l/channels/d/recordings/r", .token = kToken}).ok());
  const auto checkpoint = file_.Read();
  ASSERT_TRUE(checkpoint.has_value());
  EXPECT_EQ(checkpoint->recording, "luns/l/channels/d/recordings/r");
  EXPECT_EQ(checkpoint->token, kToken);
  struct stat folder {};
  ASSERT_EQ(stat((root_ + "/copies").c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 077, 0u);
  file_.Remove();
  EXPECT_FALSE(file_.Read().has_value());
}

TEST_F(CheckpointFileTest, EachChannelHasItsOwn) {
  EXPECT_NE(CheckpointFile(root_, RequestTo("luns/l/channels/e")).path(), file_.path());
}

TEST_F(CheckpointFileTest, WhatSomebodyElseWroteIsNoCheckpoint) {
  ASSERT_TRUE(file_.Write({.recording = "r", .token = kToken}).ok());
  for (const char* text :
       {"", "[]", "{\"kind\":\"tapedeck copy\"}",
        "{\"kind\":\"tapedeck copy\",\"recording\":\"r\",\"token\":\"ab\"}",
        "{\"kind\":\"x\",\"recording\":\"r\",\"token\":\"abababababababababababababababab\"}"}) {
    std::ofstream(file_.path(), std::ios::trunc) << text;
    EXPECT_FALSE(file_.Read().has_value()) << text;
  }
}

TEST(CheckpointFile, WithoutAFolderNothingIsKept) {
  const CheckpointFile file("", RequestTo("luns/l/channels/d"));
  EXPECT_TRUE(file.Write({.recording = "r", .token = kToken}).ok());
  EXPECT_FALSE(file.Read().has_value());
}

TEST(CheckCompatible, NamesWhatDiffers) {
  const Recording source{.block_bytes = 65536, .datatype = "cf32_le", .sample_rate = 1e6};
  const model::Channel same{.block_bytes = 65536, .datatype = "cf32_le", .sample_rate = 1e6};
  EXPECT_TRUE(CheckCompatible(source, same).ok());
  const auto refused = [&](auto change) {
    model::Channel other = same;
    change(other);
    const absl::Status status = CheckCompatible(source, other);
    EXPECT_EQ(dataplane::ReasonOf(status)->reason, "ARGUMENT_INVALID");
    return std::string(status.message());
  };
  EXPECT_THAT(refused([](auto& c) { c.datatype = "ci16_le"; }), HasSubstr("datatype"));
  EXPECT_THAT(refused([](auto& c) { c.block_bytes = 131072; }), HasSubstr("block_bytes"));
  EXPECT_THAT(refused([](auto& c) { c.sample_rate = 2e6; }), HasSubstr("sample_rate"));
  EXPECT_THAT(refused([](auto& c) { c.segment_bytes = 1 << 20; }), HasSubstr("segments"));
}

TEST(CheckKeeps, CountsWhatDoesNotGiveWay) {
  const model::Channel channel{.name = "luns/ring/channels/c", .segment_bytes = 1 << 20};
  const std::vector<Lun> luns = {
      {.name = "luns/ring", .capacity_bytes = 64 << 20, .full_policy = FullPolicy::kRing}};
  EXPECT_TRUE(CheckKeeps(channel, luns, 46 << 20).ok());
  EXPECT_TRUE(CheckKeeps(channel, luns, 46 << 20, 11 << 20).ok());
  const absl::Status held = CheckKeeps(channel, luns, 46 << 20, 46 << 20);
  EXPECT_EQ(dataplane::ReasonOf(held)->reason, "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(held.message()), HasSubstr("48234496 bytes are kept, written or read"));
  EXPECT_THAT(std::string(held.message()), HasSubstr("tapectl keep --release"));
  // Without anything held it is too large.
  const absl::Status large = CheckKeeps(channel, luns, 63 << 20, 46 << 20);
  EXPECT_THAT(std::string(large.message()), Not(HasSubstr("are kept")));
  std::vector<Lun> half = luns;
  half[0].max_fill_percent = 50;
  EXPECT_FALSE(CheckKeeps(channel, half, 46 << 20).ok()) << "it deletes down to that";
}

TEST(CheckIsWhole, NamesHowManyBlocksAreGone) {
  const std::string base = "luns/ring/channels/c/recordings/";
  const std::vector<Recording> all = {
      {.name = base + "s-2", .blocks = 3, .stream = "s", .segment = 2},
      {.name = base + "s-1", .blocks = 16, .stream = "s", .segment = 1},
      {.name = base + "other", .blocks = 16}};
  EXPECT_TRUE(CheckIsWhole(all, base + "s", 19).ok());
  EXPECT_TRUE(CheckIsWhole(all, base + "other", 16).ok());
  const absl::Status gone = CheckIsWhole(all, base + "s", 35);
  EXPECT_EQ(dataplane::ReasonOf(gone)->reason, "RECORDING_NOT_FOUND");
  EXPECT_TRUE(absl::IsDataLoss(gone));
  EXPECT_THAT(std::string(gone.message()), HasSubstr("deleted 16 of 35 blocks"));
}

TEST(OriginalOf, NamesWhatItWasNewestFirst) {
  EXPECT_TRUE(OriginalOf({.name = "a"}).earlier.empty());
  EXPECT_THAT(OriginalOf({.name = "c", .original = "b", .earlier_originals = {"a"}}).earlier,
              testing::ElementsAre("b", "a"));
  const std::vector<std::string> all(model::kMaxEarlierOriginals, "a");
  EXPECT_EQ(OriginalOf({.name = "c", .original = "b", .earlier_originals = all}).earlier.size(),
            7u);
}

TEST(OriginOf, SaysWhyTheOriginalWasNotClosedInOrder) {
  const model::Origin synth{.source = {.name = "synth"}};
  EXPECT_EQ(OriginOf({.origin = synth}), synth);
  const std::string cause = "DATA_LOSS: its manifest was lost";
  const model::Origin copied = OriginOf({.cause = cause, .origin = synth});
  EXPECT_EQ(copied.original_cause, cause);
  EXPECT_EQ(copied.source, synth.source);
  EXPECT_EQ(OriginOf({.origin = copied}), copied) << "a copy of the copy says it, too";
  EXPECT_EQ(OriginOf({.cause = "ABORTED: cut off", .origin = copied}).original_cause,
            "ABORTED: cut off; its original: " + cause);
}

TEST(OriginOf, KeepsWithinWhatARecordingTakes) {
  const std::string long_cause(10'000, 'x');
  EXPECT_EQ(OriginOf({.cause = long_cause}).original_cause.size(), model::kMaxOriginValueBytes);
  model::Origin full;
  for (int i = 0; i < 15; ++i) full.source.parameters[std::to_string(i)] = std::string(4096, 'x');
  ASSERT_EQ(model::OriginProblem(full), "");
  EXPECT_EQ(OriginOf({.cause = long_cause, .origin = full}), full);
}

TEST(Pace, LetsSoManyBytesPassInASecond) {
  std::vector<uint64_t> asked;
  Pace pace([&](uint64_t done) {
    asked.push_back(done);
    return std::optional<uint64_t>(1'000'000);
  });
  const absl::Time begin = dataplane::SteadyTime();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(pace.Wait(50'000).ok());
  EXPECT_GE(dataplane::SteadyTime() - begin, absl::Milliseconds(199));
  EXPECT_GE(asked.size(), 4u);
  EXPECT_EQ(asked.front(), 50'000u);
  EXPECT_EQ(asked.back(), 200'000u);
}

TEST(Pace, GoesOnAtOnceAtAnotherRate) {
  std::optional<uint64_t> rate = 1;
  Pace pace([&](uint64_t) { return std::exchange(rate, 0); });
  EXPECT_TRUE(pace.Wait(1 << 30).ok()) << "else it takes 34 years";
}

TEST(Pace, EndsAtOnceWithoutARate) {
  Pace pace([](uint64_t) { return std::optional<uint64_t>(); });
  EXPECT_TRUE(absl::IsCancelled(pace.Wait(1 << 30)));
}

}  // namespace
}  // namespace tapedeck::services::copying
