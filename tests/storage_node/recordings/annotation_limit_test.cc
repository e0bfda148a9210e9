// Annotations of one recording have a bound, so that an answer with all of them stays one message.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

constexpr size_t kWords = 50'000;
constexpr int kFits = static_cast<int>(services::kMaxAnnotationBytes / (kWords + 64));

class AnnotationLimitTest : public testing::Test {
 protected:
  // Until it is refused; how many there are then. Large ones, as each rewrites a manifest.
  int AnnotateUntilRefused(const std::string& recording) {
    const services::Annotation large{.comment = std::string(kWords, 'c')};
    for (int i = 0; i < 2 * kFits; ++i) {
      const absl::Status status = Annotate(recording, large);
      if (status.ok()) continue;
      EXPECT_EQ(Reason(status), "LIMIT_REACHED") << status;
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
      return i;
    }
    return 2 * kFits;
  }
  absl::Status Annotate(const std::string& recording, const services::Annotation& annotation) {
    return node_.Meanwhile(
        [&] { return node_.node().recorder().AnnotateRecording(recording, annotation); });
  }

  // So many manifests were written.
  uint64_t Generation(const std::string& recording) {
    std::ifstream manifest(node_.Directory(recording) + "/manifest.json");
    return nlohmann::json::parse(manifest).at("generation");
  }

  NodeFixture node_;
};

TEST_F(AnnotationLimitTest, OfAClosedRecording) {
  const std::string recording = node_.RecordAndSeal(4);
  EXPECT_EQ(AnnotateUntilRefused(recording), kFits);
  EXPECT_TRUE(Annotate(recording, {.label = "small"}).ok()) << "a small one still fits";
  EXPECT_EQ(node_.node().recordings().GetRecording(recording)->annotations.size(), kFits + 1u);
  EXPECT_TRUE(node_.node().recorder().KeepRecording(recording, true).ok());
}

TEST_F(AnnotationLimitTest, OfOneThatIsBeingWritten) {
  auto recorder = *node_.Record();
  ASSERT_TRUE(recorder.Push(0).ok());
  const std::string recording = recorder.admission.accept.recording;
  EXPECT_EQ(AnnotateUntilRefused(recording), kFits);
  ASSERT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(node_.node().recordings().GetRecording(recording)->annotations.size(), kFits + 0u);
  EXPECT_EQ(AnnotateUntilRefused(recording), 0) << "closed, it has no more room than before";
}

TEST_F(AnnotationLimitTest, ManyComeInOneChangeOrNotAtAll) {
  const std::string recording = node_.RecordAndSeal(4);
  std::vector<services::Annotation> many;
  for (uint64_t i = 0; i < 5000; ++i) {
    many.push_back({.sample_start = i, .label = "p", .details = R"({"x":1})", .foreign = true});
  }
  const uint64_t before = Generation(recording);
  ASSERT_TRUE(node_.node().recorder().Annotate(recording, many).ok());
  EXPECT_EQ(Generation(recording), before + 1);
  EXPECT_EQ(node_.node().recordings().GetRecording(recording)->annotations, many);
  const absl::Status status = node_.node().recorder().Annotate(recording, many);
  EXPECT_EQ(Reason(status), "LIMIT_REACHED") << status;
  EXPECT_EQ(node_.node().recordings().GetRecording(recording)->annotations, many);
}

// A device's slot has room for less; a recording must not end for want of it.
TEST(AnnotationLimitOfADevice, LeavesTheRecordingAlone) {
  NodeFixture node("device");
  auto recorder = *node.Record();
  ASSERT_TRUE(recorder.Push(0).ok());
  const std::string recording = recorder.admission.accept.recording;
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    status = node.Meanwhile([&] {
      return node.node().recorder().AnnotateRecording(recording,
                                                      {.comment = std::string(1000, '"')});
    });
  }
  EXPECT_EQ(Reason(status), "LIMIT_REACHED") << status;
  ASSERT_TRUE(recorder.Push(1).ok());
  ASSERT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(node.Get(recording).state, services::RecordingState::kSealed);
}

}  // namespace
}  // namespace tapedeck::storage_node
