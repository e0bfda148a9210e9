// LUNs whose state directory is lost, or whose members come from another machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "storage_node/store/list.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::LunState;
using testing::HasSubstr;

constexpr uint64_t kImageBytes = 128 << 20;
const absl::Status kAborted = absl::AbortedError("the worker went away");

class Attach : public testing::TestWithParam<std::string> {
 protected:
  Attach() : node_(GetParam(), 3, 64 << 20, kImageBytes) {
    recording_ = node_.RecordAndSeal(7);
    Annotate(recording_);
    services::Channel ring{.name = "luns/l/channels/t",
                           .block_bytes = kBlockBytes,
                           .datatype = "ci16_le",
                           .sample_rate = 5,
                           .commit = dataplane::CommitLevel::kReceived,
                           .pre_trigger_ns = 1'000'000'000,
                           .segment_bytes = 32 * kBlockBytes};
    EXPECT_TRUE(node_.node().channels().CreateChannel(ring, "").ok());
    auto salvaged = node_.Record();
    EXPECT_TRUE(salvaged->Push(0).ok());
    EXPECT_TRUE(salvaged->Finish(kAborted).ok());
  }

  void Annotate(const std::string& recording) {
    EXPECT_TRUE(node_.node().recorder().KeepRecording(recording, true).ok());
    EXPECT_TRUE(node_.node()
                    .recorder()
                    .AnnotateRecording(recording, {.sample_start = 4, .label = "burst"})
                    .ok());
  }

  // Durable, and not closed.
  std::string RecordAndLeave(uint64_t blocks) {
    auto recorder = node_.Record();
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder->Push(i).ok());
    EXPECT_TRUE(node_.executor().RunUntil(
        [&] { return recorder->admission.sink->watermarks().durable == blocks; }));
    return recorder->admission.accept.recording;
  }

  std::string member(int m) const { return node_.dir().path() + "/m" + std::to_string(m); }
  std::string elsewhere(int m) const { return node_.dir().path() + "/e" + std::to_string(m); }

  // Another node with nothing, and the members under other names.
  void Move() {
    node_.Stop();
    fs::remove_all(node_.state_dir());
    for (const int m : {0, 1, 2}) fs::rename(member(m), elsewhere(m));
    node_.Start();
  }
  absl::StatusOr<services::Lun> AttachLun(const services::LunAttachment& asked) {
    return node_.node().luns().AttachLun(asked, "");
  }

  // All that the lists say of the LUN.
  std::string Lists() {
    std::string text;
    const auto lun = node_.node().luns().GetLun("luns/l");
    if (!lun.ok()) return lun.status().ToString();
    text = absl::StrCat(lun->uid, " ", lun->capacity_bytes, " ", lun->used_bytes, " ",
                        lun->recordings, " ", lun->create_time_ns, "\n");
    const auto channels = node_.node().channels().ListChannels("luns/l");
    for (const auto& c : channels.value_or(std::vector<services::Channel>())) {
      absl::StrAppend(&text, format::EncodeChannel(c));
    }
    const auto recordings = node_.node().recordings().ListRecordings("luns/l/channels/-");
    for (const auto& r : recordings.value_or(std::vector<services::Recording>())) {
      absl::StrAppend(&text, r.name, " ", r.uid, " ", static_cast<int>(r.state), " ", r.blocks, " ",
                      r.bytes, " ", r.kept, " ", r.annotations.size(), " ", r.labels.size(), " ",
                      r.cause, "\n");
    }
    return text;
  }

  NodeFixture node_;
  std::string recording_;
};

TEST_P(Attach, FindsAllAgainInAnyOrder) {
  const std::string before = Lists();
  Move();
  EXPECT_TRUE(node_.node().luns().ListLuns()->empty());
  const auto lun = AttachLun({.members = {elsewhere(2), elsewhere(0), elsewhere(1)}});
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_EQ(lun->state, LunState::kReady) << lun->cause;
  EXPECT_EQ(lun->members, (std::vector<std::string>{elsewhere(0), elsewhere(1), elsewhere(2)}));
  EXPECT_EQ(Lists(), before);
  EXPECT_TRUE(node_.Verify(recording_).empty());
  EXPECT_EQ(node_.PlayAll(recording_).size(), 7u);
  EXPECT_EQ(node_.PlayAll(node_.RecordAndSeal(4, 5), 5).size(), 4u);
  const std::string now = Lists();
  node_.Stop();
  node_.Start();
  EXPECT_EQ(Lists(), now);
}

// Not first when somebody lists it: its room would not be counted until then.
TEST_P(Attach, WhatWasCutOffIsSalvagedAtOnce) {
  const std::string open = RecordAndLeave(2);
  Move();
  const auto lun = AttachLun({.members = {elsewhere(2), elsewhere(0), elsewhere(1)}});
  ASSERT_TRUE(lun.ok()) << lun.status();
  const services::Recording salvaged = node_.Get(open);
  EXPECT_EQ(salvaged.state, services::RecordingState::kSalvaged);
  EXPECT_EQ(salvaged.blocks, 2u);
  EXPECT_THAT(salvaged.cause, HasSubstr("or the LUN went away"));
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->used_bytes, lun->used_bytes);
  EXPECT_TRUE(node_.Verify(open).empty());
}

// Notes what is said of the LUN whenever the thread that attaches it asks for the time, as it does
// for each recording that it salvages.
class WatchingClock : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return clock_.NowNs(); }
  int64_t WallNs() const override {
    if (attaching == std::this_thread::get_id()) said.push_back(node->luns().GetLun("luns/l"));
    return clock_.WallNs();
  }
  node::StorageNode* node = nullptr;
  std::atomic<std::thread::id> attaching;
  mutable std::vector<absl::StatusOr<services::Lun>> said;

 private:
  const dataplane::SystemClock clock_{};
};

TEST_P(Attach, ListsSayHowFarItIs) {
  for (int i = 0; i < 3; ++i) RecordAndLeave(1);
  Move();
  const auto clock = std::make_shared<WatchingClock>();
  node_.Restart({.clock = clock});
  clock->node = &node_.node();
  clock->attaching = std::this_thread::get_id();
  const auto lun = AttachLun({.members = {elsewhere(2), elsewhere(0), elsewhere(1)}});
  clock->attaching = std::thread::id();
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_EQ(lun->state, LunState::kReady);
  ASSERT_GE(clock->said.size(), 3u);
  for (const auto& said : clock->said) {
    ASSERT_TRUE(said.ok()) << said.status();
    EXPECT_EQ(said->state, LunState::kOffline);
    EXPECT_THAT(said->cause, HasSubstr("of 5 recordings checked"));
  }
}

TEST_P(Attach, MissingMemberIsNamedAndComesLater) {
  const std::string before = Lists();
  Move();
  fs::rename(elsewhere(1), elsewhere(4));
  const auto lun = AttachLun({.members = {elsewhere(2), elsewhere(0)}});
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_EQ(lun->state, LunState::kOffline);
  EXPECT_THAT(lun->cause, HasSubstr("member 1 (last at " + member(1) + ")"));
  EXPECT_EQ(Reason(AttachLun({.members = {elsewhere(4)}, .name = "luns/x"}).status()),
            "LUN_EXISTS");
  const auto whole = AttachLun({.members = {elsewhere(4), elsewhere(2), elsewhere(0)}});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->state, LunState::kReady) << whole->cause;
  EXPECT_EQ(Lists(), before);
}

TEST_P(Attach, MissingMemberIsOpenedWhenItIsWhereItWas) {
  node_.Stop();
  fs::remove_all(node_.state_dir());
  fs::rename(member(1), elsewhere(1));
  node_.Start();
  ASSERT_TRUE(AttachLun({.members = {member(2), member(0)}}).ok());
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->state, LunState::kOffline);
  fs::rename(elsewhere(1), member(1));
  EXPECT_TRUE(node_.executor().RunUntil(
      [&] { return node_.node().luns().GetLun("luns/l")->state == LunState::kReady; }));
}

TEST_P(Attach, CopyIsRefusedUnlessItBecomesNew) {
  node_.Stop();
  for (const int m : {0, 1, 2}) {
    fs::copy(member(m), elsewhere(m), fs::copy_options::recursive);
  }
  node_.Start();
  const std::vector<std::string> copy = {elsewhere(1), elsewhere(0), elsewhere(2)};
  const absl::Status refused = AttachLun({.members = copy, .name = "luns/x"}).status();
  EXPECT_EQ(Reason(refused), "LUN_EXISTS");
  EXPECT_THAT(std::string(refused.message()),
              testing::AllOf(HasSubstr(elsewhere(0)), HasSubstr(member(0)), HasSubstr("--as-new")));
  EXPECT_EQ(
      Reason(AttachLun({.members = {elsewhere(0)}, .name = "luns/x", .as_new = true}).status()),
      "MEMBER_UNUSABLE");
  EXPECT_EQ(Reason(AttachLun({.members = copy, .name = "luns/l", .as_new = true}).status()),
            "LUN_EXISTS");
  const auto lun = AttachLun({.members = copy, .name = "luns/x", .as_new = true});
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_NE(lun->uid, node_.node().luns().GetLun("luns/l")->uid);
  EXPECT_EQ(lun->recordings, 2u);
  for (int round = 0; round < 2; ++round) {
    for (const std::string name : {"luns/l", "luns/x"}) {
      const std::string recording = name + recording_.substr(6);
      EXPECT_TRUE(node_.Verify(recording).empty());
      EXPECT_EQ(node_.PlayAll(recording).size(), 7u);
      EXPECT_TRUE(node_.Get(recording).kept);
    }
    auto recorder = node_.Record({.channel = "luns/x/channels/c"}, 3);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    EXPECT_TRUE(recorder->Push(0).ok());
    EXPECT_TRUE(recorder->Finish().ok());
    EXPECT_EQ(node_.PlayAll(recorder->admission.accept.recording, 3).size(), 1u);
    node_.Stop();
    fs::remove(node_.state_dir() + "/catalog.sqlite");
    node_.Start();
  }
  // The same at the start where one has been put into the place of the other.
  node_.Stop();
  fs::rename(member(1), node_.dir().path() + "/away");
  fs::rename(elsewhere(1), member(1));
  node_.Start();
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->state, LunState::kOffline);
}

TEST_P(Attach, AnotherNameIsKept) {
  Move();
  const std::vector<std::string> members = {elsewhere(0), elsewhere(1), elsewhere(2)};
  ASSERT_TRUE(
      node_.node()
          .luns()
          .CreateLun({.name = "luns/l", .store = "posix", .members = {node_.dir().Make("other")}},
                     "")
          .ok());
  EXPECT_EQ(Reason(AttachLun({.members = members}).status()), "LUN_EXISTS");
  const auto lun = AttachLun({.members = members, .name = "luns/moved"});
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_EQ(lun->recordings, 2u);
  EXPECT_EQ(node_.node().channels().ListChannels("luns/moved")->size(), 2u);
  node_.Stop();
  node_.Start();
  EXPECT_EQ(node_.PlayAll("luns/moved" + recording_.substr(6)).size(), 7u);
  ASSERT_TRUE(node_.node().channels().DeleteChannel("luns/moved/channels/t").ok());
}

TEST_P(Attach, WhatIsNotAWholeLunIsNamed) {
  Move();
  EXPECT_EQ(Reason(AttachLun({}).status()), "ARGUMENT_INVALID");
  EXPECT_EQ(Reason(AttachLun({.members = {elsewhere(9)}}).status()), "MEMBER_UNUSABLE");
  EXPECT_EQ(Reason(AttachLun({.members = {node_.dir().Make("empty")}}).status()),
            "MEMBER_UNUSABLE");
  fs::copy(elsewhere(0), elsewhere(5), fs::copy_options::recursive);
  const absl::Status twice =
      AttachLun({.members = {elsewhere(0), elsewhere(5), elsewhere(1)}}).status();
  EXPECT_EQ(Reason(twice), "MEMBER_UNUSABLE");
  EXPECT_THAT(std::string(twice.message()), HasSubstr("are both member 0"));
  const std::string other = node_.dir().Make("other");
  ASSERT_TRUE(node_.node()
                  .luns()
                  .CreateLun({.name = "luns/o", .store = "posix", .members = {other}}, "")
                  .ok());
  EXPECT_EQ(Reason(AttachLun({.members = {other}}).status()), "LUN_EXISTS");
  ASSERT_TRUE(node_.node().luns().DetachLun("luns/o").ok());
  const absl::Status mixed = AttachLun({.members = {elsewhere(0), other}}).status();
  EXPECT_EQ(Reason(mixed), "MEMBER_UNUSABLE");
  EXPECT_THAT(std::string(mixed.message()), HasSubstr("luns/o"));
  EXPECT_TRUE(node_.node().luns().ListLuns()->empty());
}

TEST_P(Attach, RebuiltCatalogTakesMembers) {
  const std::string before = Lists();
  Move();
  node_.Stop();
  fs::remove_all(node_.state_dir());
  ASSERT_TRUE(
      node::RebuildCatalog(node_.state_dir(), {elsewhere(1), elsewhere(2), elsewhere(0)}).ok());
  node_.Start();
  EXPECT_EQ(Lists(), before);
}

TEST_P(Attach, DetachedIsGoneHereAndWholeElsewhere) {
  const std::string before = Lists();
  {
    auto playing = node_.Play(recording_);
    ASSERT_TRUE(playing.ok());
    EXPECT_EQ(Reason(node_.node().luns().DetachLun("luns/l")), "LUN_NOT_EMPTY");
  }
  ASSERT_TRUE(node_.node().luns().DetachLun("luns/l").ok());
  EXPECT_EQ(Reason(node_.node().luns().DetachLun("luns/l")), "LUN_NOT_FOUND");
  EXPECT_TRUE(node_.node().recordings().ListRecordings("luns/-/channels/-")->empty());
  // Nobody has it open.
  for (const int m : {0, 1, 2}) fs::rename(member(m), elsewhere(m));
  const auto create = node_.node().luns().CreateLun(
      {.name = "luns/new", .store = GetParam(), .members = {elsewhere(0)}}, "");
  EXPECT_EQ(Reason(create.status()), "MEMBER_UNUSABLE");
  EXPECT_THAT(std::string(create.status().message()), HasSubstr("tapectl lun attach"));
  EXPECT_THAT(std::string(create.status().message()), testing::Not(HasSubstr("empty it")));
  ASSERT_TRUE(AttachLun({.members = {elsewhere(0), elsewhere(1), elsewhere(2)}}).ok());
  EXPECT_EQ(Lists(), before);
}

TEST(AttachMemory, HasNothingToAttachOrDetach) {
  NodeFixture node("memory");
  EXPECT_EQ(Reason(node.node().luns().DetachLun("luns/l")), "ARGUMENT_INVALID");
  EXPECT_EQ(node.node().luns().ListLuns()->size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Stores, Attach, testing::Values("posix", "direct", "device"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
