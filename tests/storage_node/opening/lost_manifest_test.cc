// A recording of which every member has lost the manifest: its index tells what was recorded, and
// nothing goes that was not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "storage_node/format/json_text.h"
#include "tests/scratch_file.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::RecordingState;
using testing::HasSubstr;

struct Shape {
  std::string name;
  std::string store;
  int members = 1;
  uint32_t copies = 0;
};

class LostManifest : public testing::TestWithParam<Shape> {
 protected:
  static constexpr uint64_t kBlocks = 20;

  LostManifest()
      : node_(GetParam().store, GetParam().members, 64 << 20, 1 << 30, GetParam().copies) {}

  std::vector<std::string> Paths(const std::string& recording, const std::string& file) const {
    std::vector<std::string> paths;
    for (int m = 0; m < GetParam().members; ++m) {
      paths.push_back(node_.Directory(recording, m) + "/" + file);
    }
    return paths;
  }
  void Remove(const std::string& recording, const std::string& file) const {
    for (const std::string& path : Paths(recording, file)) fs::remove(path);
  }
  void Overwrite(const std::string& recording, const std::string& file, const std::string& text) {
    for (const std::string& path : Paths(recording, file)) WriteFile(path, text);
  }
  void ForgetCatalog() const {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(node_.state_dir() + "/catalog.sqlite" + suffix);
    }
  }

  // What a kill leaves: all blocks are durable, and nobody has closed it.
  std::string RecordAndDie() {
    auto recorder = node_.Record();
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < kBlocks; ++i) EXPECT_TRUE(recorder->Push(i).ok());
    const auto& sink = *recorder->admission.sink;
    EXPECT_TRUE(node_.executor().RunUntil([&] { return sink.watermarks().durable == kBlocks; }));
    return recorder->admission.accept.recording;
  }

  void ExpectSalvagedWhole(const std::string& recording,
                           const std::string& cause = "its manifest was lost") {
    const services::Recording found = node_.Get(recording);
    EXPECT_EQ(found.state, RecordingState::kSalvaged);
    EXPECT_THAT(found.cause, HasSubstr(cause));
    EXPECT_EQ(found.blocks, kBlocks);
    EXPECT_EQ(found.missing_blocks, 0u);
    EXPECT_EQ(found.datatype, "cf32_le");
    EXPECT_EQ(found.sample_rate, 1e9);
    EXPECT_TRUE(found.kept);
    EXPECT_EQ(node_.PlayAll(recording).size(), kBlocks);
    EXPECT_THAT(node_.Verify(recording), testing::IsEmpty());
  }
  size_t Listed() { return node_.node().recordings().ListRecordings("luns/l/channels/c")->size(); }

  NodeFixture node_;
};

TEST_P(LostManifest, OfAClosedRecordingThatNobodyKnowsIsTakenFromItsIndex) {
  const std::string name = node_.RecordAndSeal(kBlocks);
  const services::Recording before = node_.Get(name);
  node_.Stop();
  ForgetCatalog();
  Remove(name, "manifest.json");
  node_.Start();
  ExpectSalvagedWhole(name);
  const services::Recording found = node_.Get(name);
  EXPECT_EQ(found.uid, before.uid);
  EXPECT_EQ(found.open_time_ns, before.open_time_ns);
  EXPECT_EQ(found.start_time_ns, before.start_time_ns);
  node_.Stop();
  ForgetCatalog();
  node_.Start();
  ExpectSalvagedWhole(name);  // from the manifest that it has again
}

TEST_P(LostManifest, IsFoundByVerification) {
  const std::string name = node_.RecordAndSeal(kBlocks);
  EXPECT_THAT(node_.Verify(name), testing::IsEmpty());
  Remove(name, "manifest.json");
  const auto damaged = node_.Verify(name);
  ASSERT_FALSE(damaged.empty());
  for (const services::DamagedBlock& one : damaged) {
    EXPECT_EQ(one.kind, services::DamageKind::kManifest) << one.detail;
  }
}

TEST_P(LostManifest, OfAClosedRecordingInTheCatalogIsWrittenAgain) {
  const std::string name = node_.RecordAndSeal(kBlocks);
  ASSERT_TRUE(node_.node().recorder().AnnotateRecording(name, {.label = "mark"}).ok());
  const std::string manifest = ReadFile(Paths(name, "manifest.json")[0]);
  node_.Stop();
  Remove(name, "manifest.json");
  testing::internal::CaptureStderr();
  node_.Start();
  const auto is_back = [&] {
    return std::ranges::all_of(Paths(name, "manifest.json"),
                               [&](const std::string& path) { return ReadFile(path) == manifest; });
  };
  EXPECT_TRUE(node_.executor().RunUntil(is_back));
  node_.Stop();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(HasSubstr("manifest written again"), HasSubstr(name)));
  node_.Start();
  EXPECT_EQ(node_.Get(name).state, RecordingState::kSealed);
  EXPECT_THAT(node_.Verify(name), testing::IsEmpty());
}

TEST_P(LostManifest, IsNotWrittenAgainWhereNoIndexSaysWhoseItIs) {
  const std::string name = node_.RecordAndSeal(kBlocks);
  node_.Stop();
  Remove(name, "manifest.json");
  for (const std::string& index : Paths(name, "index")) FlipBit(index, 100);
  testing::internal::CaptureStderr();
  node_.Start();
  const services::LunUpdate update = services::LunUpdate{.name = "luns/l"}.Set(
      &services::Lun::max_fill_percent, uint32_t{1});  // asks for all that is unread
  ASSERT_TRUE(node_.node().luns().UpdateLun(update, "").ok());
  std::string log;
  for (int i = 0; i < 400 && log.find("no policy counts it") == std::string::npos; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
    log += testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
  }
  testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("no policy counts it"));
  for (const std::string& path : Paths(name, "manifest.json")) EXPECT_FALSE(fs::exists(path));
}

TEST_P(LostManifest, WithoutAByteInItIsLost) {
  for (const std::string& text : {std::string(), std::string(700, '\0')}) {
    const std::string name = node_.RecordAndSeal(kBlocks);
    node_.Stop();
    ForgetCatalog();
    Overwrite(name, "manifest.json", text);
    node_.Start();
    ExpectSalvagedWhole(name);
  }
}

TEST_P(LostManifest, OrADamagedOneThatStaysBesideTheNext) {
  const std::string name = node_.RecordAndSeal(kBlocks);
  node_.Stop();
  ForgetCatalog();
  for (const std::string& path : Paths(name, "manifest.json")) FlipBit(path, 200);
  const std::string damaged = ReadFile(Paths(name, "manifest.json")[0]);
  node_.Start();
  ExpectSalvagedWhole(name, "its manifest was damaged");
  EXPECT_EQ(ReadFile(Paths(name, "manifest.json.damaged")[0]), damaged);
  EXPECT_TRUE(node_.node().recordings().DeleteRecording(name).ok());
  EXPECT_FALSE(fs::exists(node_.Directory(name, 0)));
}

// Of a later version of Tapedeck, say.
TEST_P(LostManifest, OneThatIsSoundAndNotUnderstoodLeavesTheFilesAsTheyAre) {
  const std::string name = node_.RecordAndSeal(kBlocks);
  node_.Stop();
  ForgetCatalog();
  const std::string path = Paths(name, "manifest.json")[0];
  auto object = format::OpenJson(ReadFile(path), "", UINT64_MAX);
  ASSERT_TRUE(object.ok());
  (*object)["version"] = 99;
  const std::string later = format::SealJson(*object);
  Overwrite(name, "manifest.json", later);
  node_.Start();
  EXPECT_EQ(Listed(), 0u);
  EXPECT_EQ(ReadFile(path), later);
}

TEST_P(LostManifest, OfARecordingThatWasCutOffIsTakenFromItsIndex) {
  for (const bool is_known : {true, false}) {
    const std::string name = RecordAndDie();
    node_.Stop();
    if (!is_known) ForgetCatalog();
    Remove(name, "manifest.json");
    node_.Start();
    ExpectSalvagedWhole(name);
  }
}

TEST_P(LostManifest, IsTakenFromTheCatalogWhereTheHeaderIsDamaged) {
  const std::string name = RecordAndDie();
  node_.Stop();
  Remove(name, "manifest.json");
  for (const std::string& index : Paths(name, "index")) FlipBit(index, 100);
  node_.Start();
  ExpectSalvagedWhole(name);
}

TEST_P(LostManifest, AndHeaderLeaveTheFilesAsTheyAre) {
  const std::string name = RecordAndDie();
  node_.Stop();
  ForgetCatalog();
  Remove(name, "manifest.json");
  for (const std::string& index : Paths(name, "index")) FlipBit(index, 100);
  const std::string data = ReadFile(Paths(name, "data")[0]);
  node_.Start();
  EXPECT_EQ(Listed(), 0u);
  EXPECT_EQ(ReadFile(Paths(name, "data")[0]), data);
}

TEST_P(LostManifest, OnOneMemberAndTheIndexOfAnotherRecordingDeleteNothing) {
  if (GetParam().members == 1) GTEST_SKIP() << "of one member that is all of them";
  const std::string other = node_.RecordAndSeal(3);
  const std::string name = RecordAndDie();
  node_.Stop();
  fs::remove(Paths(name, "manifest.json").back());
  for (int m = 0; m < GetParam().members; ++m) {
    WriteFile(Paths(name, "index")[m], ReadFile(Paths(other, "index")[m]));
  }
  const std::string data = ReadFile(Paths(name, "data")[0]);
  node_.Start();
  EXPECT_EQ(ReadFile(Paths(name, "data")[0]), data);
}

TEST_P(LostManifest, AnEmptiedIndexCostsNoPayload) {
  const std::string name = RecordAndDie();
  node_.Stop();
  Remove(name, "manifest.json");
  Overwrite(name, "index", "");
  const std::string data = ReadFile(Paths(name, "data")[0]);
  node_.Start();
  EXPECT_EQ(ReadFile(Paths(name, "data")[0]), data);
  EXPECT_EQ(node_.Get(name).blocks, 0u);
}

TEST_P(LostManifest, WhatHoldsNoBlockIsDeletedAndNothingElse) {
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const std::string name = recorder->admission.accept.recording;
  node_.executor().RunUntil([&] { return fs::exists(Paths(name, "manifest.json")[0]); });
  recorder = absl::CancelledError();
  node_.Stop();
  Remove(name, "manifest.json");
  node_.Start();
  EXPECT_EQ(Listed(), 0u);
  EXPECT_FALSE(fs::exists(Paths(name, "data")[0]));
}

TEST_P(LostManifest, TheLastMemberAloneHasIt) {
  const std::string name = node_.RecordAndSeal(kBlocks);
  ASSERT_TRUE(node_.node().recorder().KeepRecording(name, true).ok());
  node_.Stop();
  ForgetCatalog();
  std::vector<std::string> manifests = Paths(name, "manifest.json");
  manifests.pop_back();
  for (const std::string& path : manifests) fs::remove(path);
  node_.Start();
  const services::Recording found = node_.Get(name);
  EXPECT_EQ(found.state, RecordingState::kSealed) << found.cause;
  EXPECT_TRUE(found.kept);
}

TEST_P(LostManifest, AnOrderedDeletionIsEndedThoughTheCatalogHasTheRecording) {
  if (GetParam().members < 2) GTEST_SKIP() << "one member deletes in one step";
  const std::string name = node_.RecordAndSeal(kBlocks);
  node_.Stop();
  const std::string first = Paths(name, "manifest.json")[0];
  fs::rename(first, first + ".deleted");
  node_.Start();
  EXPECT_EQ(Listed(), 0u);
  for (const std::string& path : Paths(name, "data")) EXPECT_FALSE(fs::exists(path)) << path;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LostManifest,
    testing::Values(Shape{.name = "Posix", .store = "posix"},
                    Shape{.name = "Direct", .store = "direct"},
                    Shape{.name = "Striped", .store = "posix", .members = 2},
                    Shape{.name = "Wide", .store = "posix", .members = 3},
                    Shape{.name = "Mirrored", .store = "posix", .members = 2, .copies = 2}),
    [](const auto& shape) { return shape.param.name; });

}  // namespace
}  // namespace tapedeck::storage_node
