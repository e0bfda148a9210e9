// LUNs with files that were written before recordings need them: made, taken, used again, and never
// mistaken for what is recorded into them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "storage_node/node/check.h"
#include "tests/storage_node/capture/segment_fixture.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/store/directory/spare_files.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSpareBlocks = 32;
constexpr uint64_t kSpareBytes = kSpareBlocks * kBlockBytes;

class PrewriteTest : public testing::TestWithParam<std::string> {
 protected:
  void MakeLun(uint32_t files, std::vector<std::string> more = {}) {
    more.insert(more.begin(), node_.dir().Make("s"));
    ASSERT_TRUE(Create({.store = GetParam(),
                        .members = std::move(more),
                        .prewrite_files = files,
                        .prewrite_bytes = kSpareBytes})
                    .ok());
    ASSERT_TRUE(node_.node()
                    .channels()
                    .CreateChannel({.name = "luns/s/channels/c",
                                    .block_bytes = kBlockBytes,
                                    .datatype = "cu8",
                                    .sample_rate = 1e9},
                                   "")
                    .ok());
    AwaitSpares(files);
  }
  absl::Status Create(services::Lun lun) {
    lun.name = "luns/s";
    return node_.node().luns().CreateLun(lun, "").status();
  }
  std::string member() const { return node_.dir().path() + "/s"; }
  std::set<ino_t> Spares() const { return SparesOf(member()); }
  void AwaitSpares(size_t number) {
    EXPECT_TRUE(node_.executor().RunUntil([&] { return Spares().size() == number; }));
  }

  std::optional<Recorder> Begin(uint64_t seed = 1) {
    auto recorder = node_.Record({.channel = "luns/s/channels/c"}, seed);
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    return *std::move(recorder);
  }
  static std::string NameOf(const std::optional<Recorder>& recorder) {
    return recorder->admission.accept.recording;
  }
  std::string DataOf(const std::string& recording) const {
    return member() + "/c/" + recording.substr(recording.rfind('/') + 1) + "/data";
  }
  std::string Record(uint64_t blocks, uint64_t seed = 1) {
    std::optional<Recorder> recorder = Begin(seed);
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder->Push(i).ok()) << i;
    EXPECT_TRUE(recorder->Finish().ok());
    std::string name = NameOf(recorder);
    End(&recorder);
    return name;
  }
  void End(std::optional<Recorder>* recorder) {
    const std::string name = NameOf(*recorder);
    *recorder = std::nullopt;
    AwaitClosed(name);
  }
  // The member's threads let go of a file some time after its last reader or writer.
  void AwaitClosed(const std::string& recording) {
    const std::string data = DataOf(recording);
    EXPECT_TRUE(node_.executor().RunUntil([&] { return !IsOpen(data); }));
  }
  static bool IsOpen(const std::string& path) {
    std::error_code error;
    for (const auto& fd : fs::directory_iterator("/proc/self/fd")) {
      if (fs::read_symlink(fd.path(), error) == path) return true;
    }
    return false;
  }
  void Delete(const std::string& recording) {
    AwaitClosed(recording);
    const absl::Status status = node_.node().recordings().DeleteRecording(recording);
    EXPECT_TRUE(status.ok()) << status;
  }

  NodeFixture node_;
};

TEST_P(PrewriteTest, EveryByteOfThemIsWritten) {
  MakeLun(3);
  for (const auto& entry : fs::directory_iterator(member() + "/.tapedeck/spares")) {
    EXPECT_EQ(fs::file_size(entry.path()), kSpareBytes);
    struct stat status = {};
    ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
    EXPECT_GE(static_cast<uint64_t>(status.st_blocks) * 512, kSpareBytes);
    const disk::Fd fd = *disk::Open(entry.path(), O_RDONLY, member());
    EXPECT_EQ(lseek(fd.get(), 0, SEEK_HOLE), static_cast<off_t>(kSpareBytes)) << "unwritten";
  }
  const auto lun = node_.node().luns().GetLun("luns/s");
  EXPECT_EQ(lun->prewrite_files, 3u);
  EXPECT_EQ(lun->prewrite_bytes, kSpareBytes);
  EXPECT_EQ(lun->used_bytes, 0u);
  const auto before = Spares();
  node_.Stop();
  node_.Start();
  EXPECT_EQ(Spares(), before);
  EXPECT_EQ(node_.node().luns().GetLun("luns/s")->prewrite_files, 3u);
}

TEST_P(PrewriteTest, RecordingTakesOneAndAnotherIsMadeAfterwards) {
  MakeLun(2);
  const auto before = Spares();
  std::optional<Recorder> recorder = Begin();
  const std::string name = NameOf(recorder);
  EXPECT_TRUE(before.contains(InodeOf(DataOf(name))));
  for (uint64_t i = 0; i < kSpareBlocks + 20; ++i) ASSERT_TRUE(recorder->Push(i).ok()) << i;
  EXPECT_EQ(Spares().size(), 1u) << "none is made beside a recording";
  ASSERT_TRUE(recorder->Finish().ok());
  End(&recorder);
  AwaitSpares(2);
  EXPECT_EQ(fs::file_size(DataOf(name)), (kSpareBlocks + 20) * kBlockBytes);
  EXPECT_EQ(node_.PlayAll(name).size(), kSpareBlocks + 20);
  const std::string shorter = Record(5, 7);
  EXPECT_EQ(fs::file_size(DataOf(shorter)), 5 * kBlockBytes);
  EXPECT_EQ(node_.PlayAll(shorter, 7).size(), 5u);
}

TEST_P(PrewriteTest, FileOfADeletedRecordingIsUsedAgainForEver) {
  MakeLun(1);
  std::optional<Recorder> other = Begin();  // nothing is made beside it
  ASSERT_TRUE(Spares().empty());
  std::string name = Record(kSpareBlocks + 3);
  const ino_t inode = InodeOf(DataOf(name));
  for (uint64_t round = 2; round < 5; ++round) {
    Delete(name);
    EXPECT_EQ(Spares(), std::set<ino_t>{inode});
    EXPECT_EQ(fs::file_size((*fs::directory_iterator(member() + "/.tapedeck/spares")).path()),
              kSpareBytes);
    name = Record(kSpareBlocks, round);
    EXPECT_EQ(InodeOf(DataOf(name)), inode);
    EXPECT_EQ(node_.PlayAll(name, round).size(), kSpareBlocks);
    EXPECT_THAT(node_.Verify(name), testing::IsEmpty());
  }
  EXPECT_TRUE(other->Finish().ok());
}

TEST_P(PrewriteTest, WhatIsNotWrittenThroughoutIsNotUsedAgain) {
  MakeLun(1);
  std::optional<Recorder> other = Begin();
  Delete(Record(kSpareBlocks - 1));
  EXPECT_TRUE(Spares().empty()) << "too short";
  std::optional<Recorder> gap = Begin();
  const std::string name = NameOf(gap);
  for (uint64_t i = 0; i < kSpareBlocks + 5; ++i) {
    if (i == 7) continue;
    ASSERT_TRUE(gap->Push(i).ok());
  }
  ASSERT_TRUE(gap->Finish().ok());
  End(&gap);
  Delete(name);
  EXPECT_TRUE(Spares().empty()) << "a block of it was never written";
  const std::string linked = Record(kSpareBlocks);
  fs::create_hard_link(DataOf(linked), member() + "/kept");
  Delete(linked);
  EXPECT_TRUE(Spares().empty()) << "somebody else keeps it";
}

TEST_P(PrewriteTest, EveryMemberHasItsOwn) {
  const std::string second = node_.dir().Make("second");
  MakeLun(1, {second});
  ASSERT_TRUE(node_.executor().RunUntil([&] { return SparesOf(second).size() == 1; }));
  const auto first_spares = Spares(), second_spares = SparesOf(second);
  const std::string name = Record(2 * kSpareBlocks + 2);
  const std::string data = DataOf(name);
  EXPECT_TRUE(first_spares.contains(InodeOf(data)));
  EXPECT_TRUE(second_spares.contains(InodeOf(second + data.substr(member().size()))));
  EXPECT_EQ(node_.PlayAll(name).size(), 2 * kSpareBlocks + 2);
}

// What the last recording in the file has left there must not pass for what did not reach the disk.
TEST_P(PrewriteTest, SalvageFindsWhatAnEarlierRecordingLeft) {
  MakeLun(1);
  std::optional<Recorder> other = Begin();
  const std::string earlier = Record(kSpareBlocks, 1);
  const ino_t inode = InodeOf(DataOf(earlier));
  const std::string copy = node_.dir().path() + "/earlier";
  fs::copy_file(DataOf(earlier), copy);
  Delete(earlier);
  std::optional<Recorder> recorder = Begin(2);
  const std::string name = NameOf(recorder);
  ASSERT_EQ(InodeOf(DataOf(name)), inode);
  // Without block 10 the watermark stays there.
  for (uint64_t i = 0; i < 25; ++i) {
    if (i == 10) continue;
    ASSERT_TRUE(recorder->Push(i).ok());
  }
  ASSERT_TRUE(node_.executor().RunUntil([&] {
    return recorder->admission.sink->watermarks().durable == 10 && node_.Get(name).blocks == 25;
  }));
  recorder = std::nullopt;
  other = std::nullopt;
  node_.Stop();
  EXPECT_GE(fs::file_size(DataOf(name)), kSpareBytes);
  for (const uint64_t lost : {15, 20, 21, 22, 23, 24}) {
    CopyBytes(copy, lost * kBlockBytes, DataOf(name), lost * kBlockBytes, kBlockBytes);
  }
  node_.Start();
  const services::Recording salvaged = node_.Get(name);
  EXPECT_EQ(salvaged.state, services::RecordingState::kSalvaged);
  EXPECT_EQ(salvaged.blocks, 20u);
  EXPECT_EQ(fs::file_size(DataOf(name)), 25 * kBlockBytes) << "cut, and not known to be nothing";
  EXPECT_FALSE(fs::exists(DataOf(name) + ".sigmf-meta"));
  std::vector<uint64_t> missing;
  for (const auto& header : node_.PlayAll(name, 2)) {
    if (header.flags & dataplane::kBlockMissing) missing.push_back(header.sequence);
  }
  EXPECT_THAT(missing, testing::ElementsAre(10, 15));
}

TEST_P(PrewriteTest, LeftoversAreRemoved) {
  MakeLun(2);
  const auto before = Spares();
  const std::string folder = member() + "/.tapedeck/spares/";
  const std::string uid = node_.node().luns().GetLun("luns/s")->uid;
  node_.Stop();
  for (const char* name : {"17.part", "18"}) {
    const std::string path = folder + name;
    std::ofstream(path) << "half";
    ASSERT_EQ(setxattr(path.c_str(), "user.tapedeck.lun", uid.data(), uid.size(), 0), 0);
  }
  const auto totals =
      node::CheckStorage(node_.state_dir(), ManualClock(), [](const node::Finding&) {});
  ASSERT_TRUE(totals.ok()) << totals.status();
  EXPECT_EQ(totals->damaged, 0u);
  EXPECT_TRUE(fs::exists(folder + "17.part")) << "a check changes nothing";
  node_.Start();
  EXPECT_FALSE(fs::exists(folder + "17.part"));
  EXPECT_FALSE(fs::exists(folder + "18"));
  EXPECT_EQ(Spares(), before);
}

TEST_P(PrewriteTest, RemovedLunLeavesAnEmptyMember) {
  MakeLun(2);
  Record(kSpareBlocks);
  ASSERT_TRUE(node_.node().luns().DeleteLun("luns/s", /*force=*/true).ok());
  EXPECT_TRUE(fs::is_empty(member()));
}

INSTANTIATE_TEST_SUITE_P(Stores, PrewriteTest, testing::Values("posix", "direct"),
                         [](const auto& info) { return info.param; });

using Refusals = PrewriteTest;

TEST_P(Refusals, WhatMakesNoSenseIsRefusedBeforeAnythingIsMade) {
  const std::string made = node_.dir().Make("s");
  const std::string image = node_.dir().MakeImage("i", 64 << 20);
  const services::Lun good{
      .store = "direct", .members = {made}, .prewrite_files = 1, .prewrite_bytes = 4096};
  const auto refused = [&](auto change) {
    services::Lun lun = good;
    change(lun);
    const absl::Status status = Create(lun);
    return absl::IsInvalidArgument(status) && Reason(status) == "ARGUMENT_INVALID" &&
           fs::is_empty(made);
  };
  EXPECT_TRUE(refused([](auto& lun) { lun.prewrite_files = 0; }));
  EXPECT_TRUE(refused([](auto& lun) { lun.prewrite_files = 1001; }));
  EXPECT_TRUE(refused([](auto& lun) { lun.prewrite_bytes = 0; }));
  EXPECT_TRUE(refused([](auto& lun) { lun.prewrite_bytes = 4097; }));
  EXPECT_TRUE(refused([&](auto& lun) {
    lun.store = "device";
    lun.members = {image};
  }));
  EXPECT_TRUE(refused([](auto& lun) {
    lun.store = "memory";
    lun.members = {};
    lun.capacity_bytes = 1 << 20;
  }));
  EXPECT_TRUE(Create(good).ok());
}

TEST_P(Refusals, WithoutTheOptionThereIsNoDirectory) {
  node_.RecordAndSeal(3);
  EXPECT_TRUE(fs::exists(node_.dir().path() + "/m0/.tapedeck/lun.json"));
  EXPECT_FALSE(fs::exists(node_.dir().path() + "/m0/.tapedeck/spares"));
}

INSTANTIATE_TEST_SUITE_P(Any, Refusals, testing::Values("direct"));

// Marks stay with a file under whatever name, and go with it.
void Mark(const std::string& path) {
  EXPECT_EQ(setxattr(path.c_str(), "user.seen", "1", 1, 0), 0) << path;
}
bool IsMarked(const std::string& path) {
  return getxattr(path.c_str(), "user.seen", nullptr, 0) == 1;
}

class RingOnSpares : public SegmentTest {};

TEST_P(RingOnSpares, StreamStaysOnTheSameFiles) {
  const std::string member = node_.dir().Make("ring");
  MakeLun({.members = {member},
           .full_policy = services::FullPolicy::kRing,
           .prewrite_files = 4,
           .prewrite_bytes = kSegmentBlocks * kBlockBytes});
  ASSERT_TRUE(MakeChannel({}).ok());
  ASSERT_TRUE(node_.executor().RunUntil([&] { return SparesOf(member).size() == 4; }));
  auto recorder = Start();
  Push(recorder, 0, 2 * kLunBlocks);
  // A segment that is being made ahead takes a file from one folder to the other.
  ASSERT_TRUE(node_.executor().RunUntil([&] { return node_.node().Waiting().empty(); }));
  for (const auto& entry : fs::recursive_directory_iterator(member)) {
    const std::string parent = entry.path().parent_path().filename();
    if (entry.path().filename() == "data" || parent == "spares") Mark(entry.path());
  }
  Push(recorder, 2 * kLunBlocks, 5 * kLunBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  AwaitPolicies();
  size_t marked = 0;
  const auto segments = Segments();
  for (const auto& [number, recording] : segments) {
    const std::string id = recording.name.substr(recording.name.rfind('/') + 1);
    marked += IsMarked(absl::StrCat(member, "/c/", id, "/data"));
    EXPECT_THAT(node_.Verify(recording.name), testing::IsEmpty());
  }
  EXPECT_GE(segments.size(), kLunBlocks / kSegmentBlocks - 3);
  EXPECT_EQ(marked, segments.size());
  const std::vector<uint64_t> blocks = AllBlocks();
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(blocks[i], 5 * kLunBlocks - blocks.size() + i);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, RingOnSpares, testing::Values("posix", "direct"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
