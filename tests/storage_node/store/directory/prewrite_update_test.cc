// How many files a LUN keeps written before recordings need them, and how long, is changed while it
// is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/storage_node/node_fixture.h"
#include "tests/storage_node/store/directory/spare_files.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFirstSpareBytes = 8 * kBlockBytes;

class PrewriteUpdate : public testing::TestWithParam<std::string> {
 protected:
  PrewriteUpdate() : node_(GetParam(), 2) {}

  absl::Status Update(uint32_t files, uint64_t bytes) {
    return node_.node()
        .luns()
        .UpdateLun(services::LunUpdate{.name = "luns/l"}
                       .Set(&services::Lun::prewrite_files, files)
                       .Set(&services::Lun::prewrite_bytes, bytes),
                   "")
        .status();
  }
  std::string member(int m) const { return node_.dir().path() + "/m" + std::to_string(m); }
  std::string folder(int m) const { return member(m) + "/.tapedeck/spares"; }
  std::set<ino_t> Spares(int m = 0) const { return SparesOf(member(m)); }
  // So many of that length on either member, and nothing else of ours.
  bool AreThere(size_t number, uint64_t bytes) const {
    for (const int m : {0, 1}) {
      size_t found = 0;
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(folder(m), error)) {
        if (entry.path().filename() == "photo") continue;
        if (entry.path().has_extension() || fs::file_size(entry.path(), error) != bytes) {
          return false;
        }
        ++found;
      }
      if (found != number) return false;
    }
    return true;
  }
  void Await(size_t number, uint64_t bytes) {
    EXPECT_TRUE(node_.executor().RunUntil([&] { return AreThere(number, bytes); }));
  }
  std::string DataOf(const std::string& recording) const {
    return node_.Directory(recording) + "/data";
  }

  NodeFixture node_;
};

TEST_P(PrewriteUpdate, ToSomeToMoreToFewerAndToNone) {
  ASSERT_TRUE(Update(2, kFirstSpareBytes).ok());
  Await(2, kFirstSpareBytes);
  const auto first = Spares();
  ASSERT_TRUE(Update(4, kFirstSpareBytes).ok());
  Await(4, kFirstSpareBytes);
  EXPECT_TRUE(std::ranges::includes(Spares(), first)) << "those that were there stay";
  ASSERT_TRUE(Update(1, kFirstSpareBytes).ok());
  Await(1, kFirstSpareBytes);
  ASSERT_TRUE(Update(0, 0).ok());
  Await(0, 0);
  ASSERT_TRUE(Update(1, kFirstSpareBytes).ok());
  Await(1, kFirstSpareBytes);
}

TEST_P(PrewriteUpdate, ToAnotherLength) {
  ASSERT_TRUE(Update(2, kFirstSpareBytes).ok());
  Await(2, kFirstSpareBytes);
  ASSERT_TRUE(Update(3, 2 * kFirstSpareBytes).ok());
  Await(3, 2 * kFirstSpareBytes);
  const std::string recording = node_.RecordAndSeal(20);
  Await(3, 2 * kFirstSpareBytes);
  EXPECT_EQ(node_.PlayAll(recording).size(), 20u);
}

TEST_P(PrewriteUpdate, ARestartAndAnotherNodeHaveIt) {
  ASSERT_TRUE(Update(2, kFirstSpareBytes).ok());
  Await(2, kFirstSpareBytes);
  const auto before = Spares();
  node_.Start();
  EXPECT_EQ(Spares(), before);
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->prewrite_files, 2u);
  node_.Stop();
  fs::remove_all(node_.state_dir());
  node_.Start();
  ASSERT_TRUE(node_.node().luns().AttachLun({.members = {member(1), member(0)}}, "").ok());
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->prewrite_bytes, kFirstSpareBytes);
  EXPECT_EQ(Spares(), before);
}

// The node dies between the change, which a start goes by, and the removal of what is too much.
TEST_P(PrewriteUpdate, WhatACrashHasLeftGoesAtTheNextStart) {
  const std::vector<std::string> files = {node_.state_dir() + "/luns/l.json",
                                          member(0) + "/.tapedeck/lun.json",
                                          member(1) + "/.tapedeck/lun.json"};
  const auto keep = [&](const std::string& as) {
    for (const std::string& file : files) fs::copy_file(file, file + as);
  };
  const auto put_back = [&](const std::string& as) {
    for (const std::string& file : files) fs::rename(file + as, file);
  };
  keep(".none");
  ASSERT_TRUE(Update(1, kFirstSpareBytes).ok());
  keep(".one");
  ASSERT_TRUE(Update(3, kFirstSpareBytes).ok());
  Await(3, kFirstSpareBytes);
  node_.Stop();
  std::ofstream(folder(0) + "/photo") << "somebody's";
  put_back(".one");
  node_.Start();
  EXPECT_TRUE(AreThere(1, kFirstSpareBytes));
  node_.Stop();
  put_back(".none");
  node_.Start();
  EXPECT_TRUE(AreThere(0, 0));
  EXPECT_TRUE(fs::exists(folder(0) + "/photo"));
}

TEST_P(PrewriteUpdate, ARecordingUnderWayIsUntouched) {
  ASSERT_TRUE(Update(2, kFirstSpareBytes).ok());
  Await(2, kFirstSpareBytes);
  const auto before = Spares();
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const std::string recording = recorder->admission.accept.recording;
  EXPECT_TRUE(before.contains(InodeOf(DataOf(recording))));
  for (uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(Update(0, 0).ok());
  Await(0, 0);
  for (uint64_t i = 10; i < 40; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(Update(3, 3 * kBlockBytes * 64).ok());
  for (uint64_t i = 40; i < 60; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  EXPECT_TRUE(Spares().empty()) << "none is made beside a recording";
  ASSERT_TRUE(recorder->Finish().ok());
  recorder->admission = {};
  Await(3, 3 * kBlockBytes * 64);
  EXPECT_EQ(node_.PlayAll(recording).size(), 60u);
  EXPECT_TRUE(node_.Verify(recording).empty());
}

TEST_P(PrewriteUpdate, OnlyOursAreRemoved) {
  ASSERT_TRUE(Update(2, kFirstSpareBytes).ok());
  Await(2, kFirstSpareBytes);
  std::ofstream(folder(0) + "/photo") << "somebody's";
  std::ofstream(folder(0) + "/77") << std::string(kFirstSpareBytes, 'x');
  ASSERT_TRUE(Update(0, 0).ok());
  EXPECT_TRUE(node_.executor().RunUntil([&] { return Spares(0).size() == 2; }));
  EXPECT_TRUE(fs::exists(folder(0) + "/photo"));
  EXPECT_TRUE(fs::exists(folder(0) + "/77"));
}

TEST_P(PrewriteUpdate, BothOrNone) {
  for (const auto& [files, bytes] :
       {std::pair(uint32_t{1}, uint64_t{0}), std::pair(uint32_t{0}, kFirstSpareBytes),
        std::pair(uint32_t{1001}, kFirstSpareBytes), std::pair(uint32_t{1}, uint64_t{4095})}) {
    EXPECT_EQ(Reason(Update(files, bytes)), "ARGUMENT_INVALID") << files << " of " << bytes;
  }
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->prewrite_files, 0u);
  EXPECT_FALSE(fs::exists(folder(0)));
}

TEST_P(PrewriteUpdate, NewMembersHaveThem) {
  ASSERT_TRUE(Update(2, kFirstSpareBytes).ok());
  const std::string more = node_.dir().Make("m2");
  ASSERT_TRUE(node_.node()
                  .luns()
                  .UpdateLun(services::LunUpdate{.name = "luns/l"}.Set(
                                 &services::Lun::members, {member(0), member(1), more}),
                             "")
                  .ok());
  EXPECT_TRUE(node_.executor().RunUntil([&] { return SparesOf(more).size() == 2; }));
  ASSERT_TRUE(Update(1, kFirstSpareBytes).ok());
  EXPECT_TRUE(node_.executor().RunUntil([&] { return SparesOf(more).size() == 1; }));
}

std::string PrewriteStoreName(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Stores, PrewriteUpdate, testing::Values("posix", "direct"),
                         PrewriteStoreName);

}  // namespace
}  // namespace tapedeck::storage_node
