// What others have on a member is theirs: it is neither adopted nor read, written or deleted,
// whatever its name, and no link of theirs is followed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

#include "storage_node/disk/file_lock.h"
#include "tests/storage_node/node_fixture.h"
#include "tests/storage_node/opening/foreign_tree.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kId[] = "20261122T065058Z-a537";
constexpr uint64_t kForeignBlocks = 20;
constexpr uint64_t kFastScrub = uint64_t{1} << 40;

class ForeignFiles : public testing::TestWithParam<std::string> {
 protected:
  std::string member(int number = 0) const {
    return node_.dir().path() + "/m" + std::to_string(number);
  }
  ForeignTree TreeOn(int number) {
    return ForeignTree(member(number), node_.dir().Make("outside" + std::to_string(number)));
  }

  // Beside the channels, and named like them.
  void PlantBeside(ForeignTree* tree) {
    tree->File("projects/exp1/data", "weeks of work");
    tree->File("projects/exp1/results.csv", "1,2,3");
    tree->File(std::string("c0/") + kId + "/data", "not a recording");
    tree->File("data", "at the top");
    tree->File("index", "at the top");
    tree->File(".hidden/.tapedeck/lock", "somebody else's");
    tree->Copy(member() + "/.tapedeck/lun.json", "projects/.tapedeck/lun.json");
    tree->File("projects/.tapedeck/spares/0", "no spare");
    tree->Copy(member() + "/c/channel.json", "c9/channel.json");
    tree->File(std::string("c9/") + kId + "/data", "below a copied channel.json");
    tree->File("c8/channel.json", "{}");
    tree->LinkToFolder("linked");
    tree->LinkToFile("c7/channel.json", "{}");
    tree->Socket("socket");
    tree->Fifo("fifo");
  }
  // In the directory of a channel, and named like recordings.
  void PlantInChannel(ForeignTree* tree) {
    tree->File(std::string("c/") + kId + "/data", "not a recording");
    tree->File("c/nearly/data", "x");
    tree->File("c/nearly/index", std::string(16384, '\0'));
    tree->File("c/nearly/notes/data", "below");
    tree->File("c/.deleted-old/data", "not deleted by us");
    tree->File("c/.deleted-old/manifest.json", "{}");
    tree->File("c/data", "beside the recordings");
    tree->LinkToFolder("c/20261122T065058Z-a538");
    tree->LinkToFolder("c/.deleted-20261122T065058Z-a539");
    for (const char* name : {"data", "index", "manifest.json", "manifest.json.new"}) {
      tree->LinkToFile(std::string("c/links/") + name, "its target");
    }
    tree->File("c/half/data", "with a link for an index");
    tree->LinkToFile("c/half/index", "not an index");
    tree->LinkToFile("c/half/manifest.json", "not a manifest");
    tree->Socket("c/socket");
  }

  // As a session that is cut off.
  void LeaveUnfinished() {
    auto recorder = node_.Record();
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  }
  void Scrub() {
    ASSERT_TRUE(node_.node()
                    .scrubs()
                    .StartScrub({.parent = "luns/l", .rate_bytes_per_s = kFastScrub})
                    .ok());
    EXPECT_EQ(node_.EndScrub("luns/l").state, services::ScrubState::kDone);
  }
  void RebuildAndStart() {
    node_.Stop();
    const absl::Status rebuilt = node::RebuildCatalog(node_.state_dir());
    EXPECT_TRUE(rebuilt.ok()) << rebuilt;
    node_.Start();
  }
  absl::Status Delete(const std::string& recording) {
    return node_.node().recordings().DeleteRecording(recording);
  }
  size_t Recordings() {
    return node_.node().recordings().ListRecordings("luns/l/channels/c")->size();
  }
  absl::Status MakeLun(const std::string& path) {
    return node_.node()
        .luns()
        .CreateLun({.name = "luns/n", .store = GetParam(), .members = {path}}, "")
        .status();
  }

  NodeFixture node_{GetParam(), 2};
};

// The clock stands, so that a name repeats if chance gives the same numbers once more: two of a
// token and then that of the name.
TEST_P(ForeignFiles, ANewRecordingTakesAnotherName) {
  const auto same = std::make_shared<int>(0);
  const auto random = [same, other = std::mt19937_64(1)]() mutable -> uint64_t {
    return *same > 0 && (*same)-- > 0 ? 7 : other();
  };
  node_.Restart({.clock = std::make_shared<ManualClock>(), .random = random});
  *same = 3;
  const std::string first = node_.RecordAndSeal(1);
  ASSERT_THAT(first, testing::EndsWith("-0007"));
  ASSERT_TRUE(Delete(first).ok());
  ForeignTree trees[] = {TreeOn(0), TreeOn(1)};
  for (ForeignTree& tree : trees) {
    tree.File("c" + first.substr(first.rfind('/')) + "/data", "not a recording");
    const auto before = tree.Print();
    *same = 3;
    const std::string second = node_.RecordAndSeal(3);
    EXPECT_NE(second, first);
    EXPECT_EQ(node_.PlayAll(second).size(), 3u);
    EXPECT_EQ(tree.Print(), before);
    EXPECT_FALSE(*same) << "the name was tried";
  }
}

TEST_P(ForeignFiles, SurviveEveryCycleByteForByte) {
  ForeignTree first = TreeOn(0), second = TreeOn(1);
  const std::string kept = node_.RecordAndSeal(kForeignBlocks);
  PlantBeside(&first);
  PlantInChannel(&first);
  PlantInChannel(&second);
  const auto before = first.Print(), before_second = second.Print();
  for (int cycle = 0; cycle < 3 && !HasFailure(); ++cycle) {
    SCOPED_TRACE(cycle);
    const std::string recording = node_.RecordAndSeal(kForeignBlocks);
    LeaveUnfinished();
    node_.Stop();
    node_.Start();
    EXPECT_EQ(first.Print(), before) << "a restart";
    Scrub();
    EXPECT_TRUE(Delete(recording).ok());
    EXPECT_EQ(first.Print(), before) << "a scrub and a deletion";
    RebuildAndStart();
    EXPECT_EQ(first.Print(), before) << "a rebuilt catalog";
    EXPECT_EQ(second.Print(), before_second);
    EXPECT_EQ(Recordings(), 1u + static_cast<size_t>(cycle + 1)) << "nothing else is adopted";
    EXPECT_EQ(node_.PlayAll(kept).size(), kForeignBlocks);
  }
  EXPECT_EQ(node_.node().channels().ListChannels("luns/l")->size(), 1u);
  EXPECT_TRUE(node_.node().luns().DeleteLun("luns/l", /*force=*/true).ok());
  EXPECT_EQ(first.Print(), before) << "the deleted LUN";
  EXPECT_EQ(second.Print(), before_second);
  EXPECT_FALSE(fs::exists(member() + "/.tapedeck"));
}

TEST_P(ForeignFiles, InARecordingsFolderKeepTheFolder) {
  ForeignTree tree = TreeOn(0);
  const std::string name = node_.RecordAndSeal(kForeignBlocks);
  const std::string folder = "c/" + name.substr(name.rfind('/') + 1);
  tree.File(folder + "/notes.txt", "about this recording");
  tree.File(folder + "/more/data", "of somebody else");
  tree.LinkToFolder(folder + "/spectrum");
  const auto before = tree.Print();
  ASSERT_TRUE(Delete(name).ok());
  EXPECT_EQ(tree.Print(), before);
  for (const char* ours : {"data", "index", "manifest.json"}) {
    EXPECT_FALSE(fs::exists(member() + "/" + folder + "/" + ours)) << ours;
  }
  EXPECT_FALSE(fs::exists(node_.Directory(name, 1))) << "nobody has anything there";
  RebuildAndStart();
  EXPECT_EQ(tree.Print(), before);
  EXPECT_EQ(Recordings(), 0u);
}

TEST_P(ForeignFiles, LinkInPlaceOfARecordingIsNotFollowed) {
  const std::string name = node_.RecordAndSeal(kForeignBlocks);
  ForeignTree tree = TreeOn(0);
  const std::string folder = node_.Directory(name);
  fs::rename(folder, tree.outside() + "/moved");
  fs::create_directory_symlink(tree.outside() + "/moved", folder);
  const auto before = tree.Print();
  const absl::Status status = Delete(name);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder));
  EXPECT_THAT(std::string(status.message()), HasSubstr("a symbolic link"));
  EXPECT_FALSE(node_.node().recorder().AnnotateRecording(name, {.label = "mark"}).ok());
  EXPECT_FALSE(node_.Play(name).ok());
  RebuildAndStart();
  EXPECT_EQ(tree.Print(), before);
  EXPECT_TRUE(fs::is_symlink(folder));
}

TEST_P(ForeignFiles, ChannelIsMadeNeitherThroughALinkNorOverFiles) {
  ForeignTree tree = TreeOn(0);
  tree.LinkToFolder("linked");
  tree.File("taken/channel.json", "of somebody else");
  tree.File("results/table.csv", "1,2,3");
  const auto before = tree.Print();
  for (const char* id : {"linked", "taken", "results"}) {
    const auto made =
        node_.node().channels().CreateChannel({.name = std::string("luns/l/channels/") + id,
                                               .block_bytes = kBlockBytes,
                                               .datatype = "cu8"},
                                              "");
    EXPECT_THAT(Reason(made.status()), testing::AnyOf("MEMBER_NOT_EMPTY", "MEMBER_UNUSABLE")) << id;
    EXPECT_THAT(std::string(made.status().message()), HasSubstr(id));
  }
  EXPECT_EQ(tree.Print(), before);
  fs::create_directory(member() + "/empty");
  node_.MakeChannel("empty", dataplane::CommitLevel::kDurable);
}

// To open one for reading waits for a writer, who never comes.
TEST_P(ForeignFiles, FifosKeepNobodyWaiting) {
  const std::string name = node_.RecordAndSeal(kForeignBlocks);
  ForeignTree tree = TreeOn(0);
  for (const char* file : {"data", "index", "manifest.json"}) {
    tree.Fifo(std::string("c/pipes/") + file);
  }
  tree.Fifo("c9/channel.json");
  node_.Stop();
  for (const char* file : {"index", "manifest.json"}) {
    fs::remove(node_.Directory(name) + "/" + file);
    tree.Fifo("c/" + name.substr(name.rfind('/') + 1) + "/" + file);
  }
  const auto before = tree.Print();
  node_.Start();
  RebuildAndStart();
  EXPECT_EQ(node_.PlayAll(name).size(), kForeignBlocks) << "from the other copies";
  Scrub();
  EXPECT_EQ(tree.Print(), before);
  EXPECT_TRUE(Delete(name).ok());
  EXPECT_EQ(tree.Print(), before);
}

TEST_P(ForeignFiles, LunIsMadeOnEmptyDirectoriesOnly) {
  const std::string full = node_.dir().Make("full");
  fs::create_directory(full + "/lost+found");
  fs::create_directories(full + "/projects/exp1");
  std::ofstream(full + "/notes.txt") << "x";
  const absl::Status refused = MakeLun(full);
  EXPECT_EQ(Reason(refused), "MEMBER_NOT_EMPTY");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("notes.txt, projects"));
  EXPECT_THAT(std::string(refused.message()), testing::Not(HasSubstr("lost+found")));
  EXPECT_FALSE(fs::exists(full + "/.tapedeck"));
  fs::remove_all(full + "/projects");
  fs::remove(full + "/notes.txt");
  EXPECT_EQ(Reason(MakeLun(full)), "none") << "a file system's own";
  EXPECT_TRUE(node_.node().luns().DeleteLun("luns/n", false).ok());
  EXPECT_TRUE(fs::exists(full + "/lost+found"));
  fs::create_directory_symlink(node_.dir().Make("elsewhere"), full + "/.tapedeck");
  EXPECT_EQ(Reason(MakeLun(full)), "MEMBER_NOT_EMPTY");
  EXPECT_TRUE(fs::is_empty(node_.dir().path() + "/elsewhere"));
}

TEST_P(ForeignFiles, LunIsMadeNeitherInAnotherNorAroundIt) {
  const std::string inside = member() + "/sub/deeper";
  fs::create_directories(inside);
  const absl::Status refused = MakeLun(inside);
  EXPECT_EQ(Reason(refused), "MEMBER_UNUSABLE");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("lies inside " + member()));
  EXPECT_TRUE(fs::is_empty(inside));
  EXPECT_NE(Reason(MakeLun(node_.dir().path())), "none");
  EXPECT_FALSE(fs::exists(node_.dir().path() + "/.tapedeck"));
  // Of a LUN whose disk is away, and of another node.
  node_.Stop();
  fs::rename(member(), node_.dir().path() + "/away");
  node_.Start();
  fs::create_directories(inside);
  EXPECT_EQ(Reason(MakeLun(inside)), "MEMBER_UNUSABLE");
  fs::create_directories(node_.dir().path() + "/away/x");
  EXPECT_EQ(Reason(MakeLun(node_.dir().path() + "/away/x")), "MEMBER_UNUSABLE");
}

TEST_P(ForeignFiles, LockIsNeverALink) {
  const std::string lock = member() + "/.tapedeck/lock";
  const std::string target = node_.dir().path() + "/target";
  std::ofstream(target) << "not a lock";
  node_.Stop();
  const auto offline = [&](const std::string& what) {
    node_.Start();
    const auto lun = node_.node().luns().GetLun("luns/l");
    EXPECT_EQ(lun->state, services::LunState::kOffline) << what;
    EXPECT_THAT(lun->cause, HasSubstr(lock));
    EXPECT_THAT(lun->cause, HasSubstr(what));
    node_.Stop();
    fs::remove(lock);
  };
  fs::remove(lock);
  fs::create_symlink(target, lock);
  offline("a symbolic link");
  ASSERT_EQ(mkfifo(lock.c_str(), 0600), 0);
  offline("a FIFO");
  fs::create_directory(lock);
  offline("a directory");
  fs::create_hard_link(target, lock);
  offline("a hard link");
  std::string text;
  std::getline(std::ifstream(target), text);
  EXPECT_EQ(text, "not a lock");
  node_.Start();
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->state, services::LunState::kReady);
  node_.Stop();
  const std::string state_lock = node_.state_dir() + "/lock";
  fs::remove(state_lock);
  fs::create_symlink(target, state_lock);
  EXPECT_EQ(Reason(disk::FileLock::Take(state_lock, node_.state_dir()).status()),
            "MEMBER_UNUSABLE");
  fs::remove(state_lock);
}

INSTANTIATE_TEST_SUITE_P(Stores, ForeignFiles, testing::Values("posix", "direct"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
