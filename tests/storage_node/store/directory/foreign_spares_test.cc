// Files among the spares and in .tapedeck that are not Tapedeck's, and what the log says of
// deletions and of what is left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/storage_node/capture/segment_fixture.h"
#include "tests/storage_node/opening/foreign_tree.h"
#include "tests/storage_node/store/directory/spare_files.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint64_t kSpareSize = kSegmentBlocks * kBlockBytes;

class ForeignSpares : public SegmentTest {
 protected:
  void MakeRingOfSpares() {
    MakeLun({.members = {node_.dir().Make("ring")},
             .full_policy = services::FullPolicy::kRing,
             .prewrite_files = 2,
             .prewrite_bytes = kSpareSize});
    ASSERT_TRUE(MakeChannel({}).ok());
    AwaitSpares();
  }
  std::string member() const { return node_.dir().path() + "/ring"; }
  void AwaitSpares() {
    ASSERT_TRUE(node_.executor().RunUntil([&] { return SparesOf(member()).size() >= 2; }));
  }
};

TEST_P(ForeignSpares, SurviveARingAndAreNeverRecordedInto) {
  MakeRingOfSpares();
  ForeignTree tree(member(), node_.dir().Make("outside"));
  const std::string folder = ".tapedeck/spares/";
  tree.File(folder + "77", std::string(kSpareSize, 'x'));
  tree.File(folder + "78.part", "half of something else");
  tree.File(folder + "079", std::string(kSpareSize, 'x'));
  tree.File(folder + "notes.txt", "x");
  tree.File(folder + "80/data", "x");
  tree.LinkToFile(folder + "81", std::string(kSpareSize, 'x'));
  tree.LinkToFile(folder + "82.part", "x");
  tree.Fifo(folder + "83");
  tree.File(".tapedeck/mine", "x");
  const auto before = tree.Print();
  for (int round = 0; round < 2; ++round) {
    node_.Stop();
    node_.Start();
    EXPECT_EQ(tree.Print(), before);
    auto recorder = Start();
    Push(recorder, 0, 2 * kLunBlocks);
    ASSERT_TRUE(recorder.Finish().ok());
    recorder.admission.sink = nullptr;
    EXPECT_EQ(tree.Print(), before);
  }
  ASSERT_TRUE(node_.node().luns().DeleteLun("luns/ring", /*force=*/true).ok());
  EXPECT_EQ(tree.Print(), before);
  EXPECT_FALSE(fs::exists(member() + "/.tapedeck/lun.json"));
  EXPECT_FALSE(fs::exists(member() + "/c"));
}

TEST_P(ForeignSpares, FileOfALinkedRecordingIsNoSpare) {
  MakeRingOfSpares();
  auto recorder = Start();
  Push(recorder, 0, kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  const std::string name = recorder.admission.accept.recording;
  const std::string recording = member() + "/c/" + name.substr(name.rfind('/') + 1);
  ForeignTree tree(member(), node_.dir().Make("outside"));
  fs::rename(recording, tree.outside() + "/moved");
  fs::create_directory_symlink(tree.outside() + "/moved", recording);
  const auto before = tree.Print();
  EXPECT_FALSE(node_.node().recordings().DeleteRecording(name).ok());
  EXPECT_EQ(tree.Print(), before);
  EXPECT_TRUE(fs::is_symlink(recording));
}

// Copied here, or what a loss has left.
TEST_P(ForeignSpares, AManifestAloneIsNamedAsThat) {
  MakeRingOfSpares();
  auto recorder = Start();
  Push(recorder, 0, kSegmentBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  const std::string name = recorder.admission.accept.recording;
  const std::string id = name.substr(name.rfind('/') + 1);
  ForeignTree tree(member(), node_.dir().Make("outside"));
  tree.File("c/web/manifest.json", "{\"name\": \"a page\"}");
  fs::create_directory(member() + "/c/lone");
  fs::copy(member() + "/c/" + id + "/manifest.json", member() + "/c/lone/manifest.json");
  node_.Stop();
  testing::internal::CaptureStderr();
  node_.Start();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("left alone: the manifest of another recording, without its index"));
  EXPECT_THAT(log, HasSubstr("path=" + member() + "/c/lone recording=" + id));
  EXPECT_THAT(log, HasSubstr("entries=1 names=web"));
  EXPECT_TRUE(fs::exists(member() + "/c/lone/manifest.json"));
}

TEST_P(ForeignSpares, LogNamesWhatIsDeletedAndWhatIsLeftAlone) {
  MakeRingOfSpares();
  ForeignTree tree(member(), node_.dir().Make("outside"));
  for (int i = 0; i < 20; ++i) tree.File("c/exp" + std::to_string(i) + "/data", "x");
  tree.File("projects/data", "x");
  node_.Stop();
  testing::internal::CaptureStderr();
  node_.Start();
  const std::string start = testing::internal::GetCapturedStderr();
  size_t told = 0;
  for (size_t at = 0; (at = start.find("left alone", at)) != std::string::npos; ++at) ++told;
  EXPECT_EQ(told, 2u) << "one line for each directory: " << start;
  EXPECT_THAT(start, HasSubstr("path=" + member() + "/c entries=20"));
  EXPECT_THAT(start, HasSubstr("projects"));

  testing::internal::CaptureStderr();
  auto recorder = Start();
  Push(recorder, 0, 2 * kLunBlocks);
  ASSERT_TRUE(recorder.Finish().ok());
  recorder.admission.sink = nullptr;
  const auto segments = *node_.node().recordings().ListRecordings(kChannel);
  ASSERT_FALSE(segments.empty());
  EXPECT_TRUE(node_.node().recordings().DeleteRecording(segments[0].name).ok());
  EXPECT_TRUE(node_.node().luns().DeleteLun("luns/ring", /*force=*/true).ok());
  const std::string log = testing::internal::GetCapturedStderr();
  for (const std::string& why :
       {std::string("in the ring"), segments[0].name + " why=\"asked for\"",
        std::string("its LUN is being deleted"), std::string("LUN deleted")}) {
    EXPECT_THAT(log, HasSubstr(why));
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ForeignSpares, testing::Values("posix"), StoreOf);

}  // namespace
}  // namespace tapedeck::storage_node
