// A closed recording is one of SigMF's where it lies.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kMeta[] = "/data.sigmf-meta";
constexpr char kData[] = "/data.sigmf-data";

class SigmfView {
 public:
  explicit SigmfView(NodeFixture& node, absl::string_view foreign = "")
      : node_(node), recorder_(*node.Record()) {
    name_ = recorder_.admission.accept.recording;
    if (!foreign.empty()) std::ofstream(directory() + kData) << foreign;
    for (uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(recorder_.Push(i).ok());
    EXPECT_TRUE(recorder_.Finish().ok());
    recorder_.admission.sink = nullptr;
  }

  std::string directory() const { return node_.Directory(name_); }
  const std::string& name() const { return name_; }
  json meta() const {
    std::ifstream file(directory() + kMeta);
    return json::parse(file);
  }

 private:
  NodeFixture& node_;
  Recorder recorder_;
  std::string name_;
};

TEST(SigmfViewTest, LiesBesideTheSamplesAndFollowsThem) {
  NodeFixture node;
  const SigmfView view(node);
  EXPECT_EQ(fs::file_size(view.directory() + kData), 5 * kBlockBytes);
  ASSERT_EQ(view.meta()["captures"].size(), 1u);
  EXPECT_EQ(view.meta()["captures"][0]["core:global_index"], 0);
  EXPECT_TRUE(view.meta()["annotations"].empty());
  ASSERT_TRUE(node.node()
                  .recorder()
                  .AnnotateRecording(view.name(), {.sample_start = 9, .label = "burst"})
                  .ok());
  ASSERT_EQ(view.meta()["annotations"].size(), 1u);
  EXPECT_EQ(view.meta()["annotations"][0]["core:label"], "burst");
  const std::string directory = view.directory();
  ASSERT_TRUE(node.node().recordings().DeleteRecording(view.name()).ok());
  EXPECT_FALSE(fs::exists(directory));
}

TEST(SigmfViewTest, WhatSomebodyHasPutThereStays) {
  NodeFixture node;
  const SigmfView view(node, "somebody's");
  EXPECT_FALSE(fs::exists(view.directory() + kMeta));
  const std::string directory = view.directory();
  ASSERT_TRUE(node.node().recordings().DeleteRecording(view.name()).ok());
  std::ifstream file(directory + kData);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "somebody's");
  EXPECT_FALSE(fs::exists(directory + "/data"));
}

// A program that edits annotations saves them under the same name.
TEST(SigmfViewTest, WhatSomebodyHasEditedStays) {
  NodeFixture node;
  const SigmfView view(node);
  json meta = view.meta();
  meta["annotations"].push_back({{"core:sample_start", 1}, {"core:label", "mine"}});
  std::ofstream(view.directory() + kMeta) << meta.dump();
  ASSERT_TRUE(node.node()
                  .recorder()
                  .AnnotateRecording(view.name(), {.sample_start = 9, .label = "burst"})
                  .ok());
  EXPECT_EQ(view.meta(), meta);
  const std::string directory = view.directory();
  ASSERT_TRUE(node.node().recordings().DeleteRecording(view.name()).ok());
  EXPECT_TRUE(fs::exists(directory + kMeta));
  EXPECT_FALSE(fs::exists(directory + "/data"));
}

TEST(SigmfViewTest, ThereIsNoneOfWhatLiesOnSeveralMembers) {
  NodeFixture node("posix", 2);
  const SigmfView view(node);
  EXPECT_FALSE(fs::exists(view.directory() + kMeta));
  EXPECT_FALSE(fs::exists(fs::symlink_status(view.directory() + kData)));
}

TEST(SigmfViewTest, ARecordingThatIsSalvagedHasOne) {
  NodeFixture node;
  std::string name;
  {
    auto recorder = *node.Record();
    name = recorder.admission.accept.recording;
    ASSERT_TRUE(recorder.Push(0).ok());
    ASSERT_TRUE(node.executor().RunUntil([&] { return node.Get(name).blocks == 1; }));
  }
  node.Stop();
  node.Start();
  EXPECT_EQ(node.Get(name).state, services::RecordingState::kSalvaged);
  EXPECT_TRUE(fs::exists(node.Directory(name) + kMeta));
}

}  // namespace
}  // namespace tapedeck::storage_node
