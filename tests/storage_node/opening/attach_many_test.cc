// Many LUNs of each kind, with recordings in every state, come back from their members alone.
// TAPEDECK_ATTACH_LUNS: how many of each kind; 50 with TAPEDECK_LONG, 12 without either.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;

int LunsOfEach() {
  const char* text = std::getenv("TAPEDECK_ATTACH_LUNS");
  if (text != nullptr) return std::atoi(text);
  return std::getenv("TAPEDECK_LONG") != nullptr ? 50 : 12;
}

class AttachMany : public testing::TestWithParam<std::string> {
 protected:
  std::string Root(int lun, int member) const {
    return node_.dir().path() + "/l" + std::to_string(lun) + "-" + std::to_string(member);
  }
  static int MembersOf(int lun) { return 1 + lun % 3; }
  static bool IsRing(int lun) { return lun % 4 == 1; }
  static bool IsTriggered(int lun) { return lun % 4 == 2; }

  // Blocks into a new recording of the LUN; how it ends says `end`: sealed, salvaged or open.
  std::string Record(const std::string& lun, uint64_t blocks, const std::string& end) {
    auto recorder = node_.Record({.channel = lun + "/channels/c"});
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    if (!recorder.ok()) return "";
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder->Push(i).ok());
    absl::Status finished;
    if (end == "sealed") finished = recorder->Finish();
    if (end == "salvaged") finished = recorder->Finish(absl::AbortedError("gone"));
    EXPECT_TRUE(finished.ok()) << finished;
    if (end == "open") {
      EXPECT_TRUE(node_.executor().RunUntil(
          [&] { return recorder->admission.sink->watermarks().durable >= blocks; }));
    }
    return recorder->admission.accept.recording;
  }

  void Make(int number) {
    const std::string name = "luns/n" + std::to_string(number);
    services::Lun lun{.name = name, .store = GetParam(), .capacity_bytes = 48 << 20};
    if (GetParam() == "device") lun.capacity_bytes = 0;  // that of its devices
    for (int m = 0; m < MembersOf(number); ++m) {
      if (GetParam() == "device") {
        lun.members.push_back(
            node_.dir().MakeImage(fs::path(Root(number, m)).filename(), 64 << 20));
      } else {
        fs::create_directory(Root(number, m));
        lun.members.push_back(Root(number, m));
      }
    }
    if (IsRing(number)) lun.full_policy = services::FullPolicy::kRing;
    ASSERT_TRUE(node_.node().luns().CreateLun(lun, "").ok());
    services::Channel channel{.name = name + "/channels/c",
                              .block_bytes = kBlockBytes,
                              .datatype = "cu8",
                              .sample_rate = 1e6,
                              .segment_bytes = IsRing(number) ? 16 * kBlockBytes : 0};
    ASSERT_TRUE(node_.node().channels().CreateChannel(channel, "").ok());
    if (IsTriggered(number)) {
      channel.name = name + "/channels/trigger";
      channel.commit = dataplane::CommitLevel::kReceived;
      channel.pre_trigger_ns = 1'000'000;
      ASSERT_TRUE(node_.node().channels().CreateChannel(channel, "").ok());
    }
    const std::string kept = Record(name, IsRing(number) ? 12 : 5, "sealed");
    EXPECT_TRUE(node_.node().recorder().KeepRecording(kept, true).ok());
    EXPECT_TRUE(
        node_.node().recorder().AnnotateRecording(kept, {.sample_start = 1, .label = "x"}).ok());
    Record(name, 3, "salvaged");
  }
  // What is recorded when the node dies; to list it would close it.
  void MakeOpen(int number) {
    open_[number] = Record("luns/n" + std::to_string(number), 4, "open");
  }

  // What is closed.
  std::string Lists(int number) {
    const std::string name = "luns/n" + std::to_string(number);
    std::string text;
    const auto channels = node_.node().channels().ListChannels(name);
    if (!channels.ok()) return channels.status().ToString();
    for (const auto& channel : *channels) text += format::EncodeChannel(channel);
    const auto recordings = node_.node().recordings().ListRecordings(name + "/channels/-");
    if (!recordings.ok()) return recordings.status().ToString();
    for (const auto& r : *recordings) {
      if (r.name == open_[number]) continue;
      absl::StrAppend(&text, r.name, " ", r.uid, " ", static_cast<int>(r.state), " ", r.blocks, " ",
                      r.kept, r.annotations.size(), " ", r.cause, "\n");
    }
    return text;
  }

  // Each member under the name of another one of its LUN.
  std::string NewPlace(int number, int member) const {
    const int name = (member + 1) % MembersOf(number);
    return elsewhere_ / fs::path(Root(number, name)).filename();
  }
  void Move(int number) {
    for (int m = 0; m < MembersOf(number); ++m) fs::rename(Root(number, m), NewPlace(number, m));
  }
  static std::vector<int> Shuffled(int count) {
    static std::mt19937 random(7);
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::ranges::shuffle(numbers, random);
    return numbers;
  }

  // First without one of its members, if it has several.
  services::Lun AttachOne(int number) {
    const std::vector<int> order = Shuffled(MembersOf(number));
    services::LunAttachment asked;
    for (const int m : order) {
      if (m != order[0]) asked.members.push_back(NewPlace(number, m));
    }
    if (!asked.members.empty()) {
      const auto lun = node_.node().luns().AttachLun(asked, "");
      EXPECT_TRUE(lun.ok()) << lun.status();
      const std::string lacking =
          absl::StrCat("member ", order[0], " (last at ", Root(number, order[0]), ")");
      EXPECT_EQ(lun.value_or(services::Lun()).state, services::LunState::kOffline);
      EXPECT_THAT(lun.value_or(services::Lun()).cause, testing::HasSubstr(lacking));
    }
    asked.members.push_back(NewPlace(number, order[0]));
    const auto lun = node_.node().luns().AttachLun(asked, "");
    EXPECT_TRUE(lun.ok()) << lun.status();
    return lun.value_or(services::Lun());
  }

  NodeFixture node_{"memory"};
  std::map<int, std::string> open_;
  const fs::path elsewhere_ = node_.dir().Make("elsewhere");
};

TEST_P(AttachMany, ComeBackFromTheirMembersAlone) {
  std::map<int, std::string> before;
  const int luns = LunsOfEach();
  for (int i = 0; i < luns; ++i) {
    ASSERT_NO_FATAL_FAILURE(Make(i));
    before[i] = Lists(i);
    MakeOpen(i);
  }
  node_.Stop();
  fs::remove_all(node_.state_dir());
  for (int i = 0; i < luns; ++i) Move(i);
  node_.Start();
  for (const int i : Shuffled(luns)) {
    const services::Lun lun = AttachOne(i);
    EXPECT_EQ(lun.state, services::LunState::kReady) << lun.cause;
    EXPECT_EQ(lun.full_policy == services::FullPolicy::kRing, IsRing(i));
    EXPECT_EQ(Lists(i), before[i]);
    const services::Recording open = node_.Get(open_[i]);
    EXPECT_EQ(open.state, services::RecordingState::kSalvaged);
    EXPECT_EQ(open.blocks, 4u);
    EXPECT_THAT(open.cause, testing::HasSubstr("ABORTED"));
    const auto recordings = node_.node().recordings().ListRecordings(lun.name + "/channels/-");
    ASSERT_TRUE(recordings.ok());
    for (const auto& r : *recordings) {
      EXPECT_TRUE(node_.Verify(r.name).empty()) << r.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, AttachMany, testing::Values("posix", "direct", "device"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
