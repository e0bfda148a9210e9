// What is noted about a recording is changed while it runs, when it is closed, and after it was cut
// off; it stays, also where nothing but the files is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::RecordingUpdate;
using services::model::Labels;
using testing::HasSubstr;

constexpr uint64_t kUpdatedBlocks = 4;

class UpdateRecording : public testing::TestWithParam<std::string> {
 protected:
  absl::StatusOr<services::Recording> Update(const std::string& recording,
                                             const std::string& description, const Labels& labels) {
    auto update = RecordingUpdate{.name = recording}
                      .Set(&services::Recording::description, description)
                      .Set(&services::Recording::labels, labels);
    return node_.Meanwhile([&] { return node_.node().recordings().UpdateRecording(update); });
  }
  void ExpectNoted(const std::string& recording, const std::string& description,
                   const Labels& labels) {
    const auto found = node_.node().recordings().GetRecording(recording);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->description, description);
    EXPECT_EQ(found->labels, labels);
  }
  // With nothing but the files to go by.
  void RestartFromFiles() {
    if (GetParam() == "memory") return;
    node_.Stop();
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(node_.state_dir() + "/catalog.sqlite" + suffix);
    }
    node_.Start();
  }

  NodeFixture node_{GetParam(), 2};
  const Labels labels_{{"band", "L"}, {"site", "north"}};
};

TEST_P(UpdateRecording, AClosedOneKeepsTheRest) {
  const std::string recording = node_.RecordAndSeal(kUpdatedBlocks);
  const auto updated = Update(recording, "the third pass", labels_);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->description, "the third pass");
  EXPECT_EQ(updated->labels, labels_);
  EXPECT_EQ(updated->blocks, kUpdatedBlocks);
  RestartFromFiles();
  ExpectNoted(recording, "the third pass", labels_);
  // What the mask does not name stays.
  auto less = RecordingUpdate{.name = recording}.Set(&services::Recording::labels, {});
  ASSERT_TRUE(node_.node().recordings().UpdateRecording(less).ok());
  ExpectNoted(recording, "the third pass", {});
  EXPECT_EQ(node_.PlayAll(recording, 1).size(), kUpdatedBlocks);
}

TEST_P(UpdateRecording, ARunningOneGoesOn) {
  auto recorder = node_.Record({.labels = {{"source", "synth"}}});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const std::string recording = recorder->admission.accept.recording;
  ASSERT_TRUE(recorder->Push(0).ok());
  ExpectNoted(recording, "", {{"source", "synth"}});
  ASSERT_TRUE(Update(recording, "running", labels_).ok());
  ExpectNoted(recording, "running", labels_);
  for (uint64_t i = 1; i < kUpdatedBlocks; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  ASSERT_TRUE(recorder->Finish().ok());
  recorder = absl::CancelledError();
  RestartFromFiles();
  ExpectNoted(recording, "running", labels_);
  EXPECT_EQ(node_.PlayAll(recording, 1).size(), kUpdatedBlocks);
}

TEST_P(UpdateRecording, OneThatWasCutOffHasIt) {
  if (GetParam() == "memory") GTEST_SKIP() << "memory does not outlive its process";
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const std::string recording = recorder->admission.accept.recording;
  ASSERT_TRUE(recorder->Push(0).ok());
  ASSERT_TRUE(Update(recording, "before the cut", labels_).ok());
  recorder = absl::CancelledError();
  RestartFromFiles();
  ExpectNoted(recording, "before the cut", labels_);
}

TEST_P(UpdateRecording, RefusesByName) {
  const std::string recording = node_.RecordAndSeal(kUpdatedBlocks);
  const auto refused = [&](const std::string& description, const Labels& labels) {
    const absl::Status status = Update(recording, description, labels).status();
    EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
    return std::string(status.message());
  };
  EXPECT_THAT(refused(std::string(1025, 'x'), {}), HasSubstr("description"));
  EXPECT_THAT(refused("", {{"", "nameless"}}), HasSubstr("without a name"));
  // A session could not tell these to its peer, and the recording would play no more.
  EXPECT_THAT(refused("", {{"long", std::string(4097, 'x')}}), HasSubstr("4096 bytes"));
  EXPECT_THAT(refused("", {{std::string(257, 'x'), ""}}), HasSubstr("256 bytes"));
  EXPECT_THAT(refused("", {{"bell\x07", ""}}), HasSubstr("control characters"));
  Labels large;
  for (int i = 0; i < 17; ++i) large[std::to_string(i)] = std::string(4096, 'x');
  EXPECT_THAT(refused("", large), HasSubstr("65536 bytes"));
  Labels many;
  for (int i = 0; i < 257; ++i) many["n" + std::to_string(i)] = "";
  EXPECT_THAT(refused("", many), HasSubstr("more than 256"));
  ExpectNoted(recording, "", {});
  EXPECT_EQ(Reason(Update(recording + "0", "", {}).status()), "RECORDING_NOT_FOUND");
}

TEST_P(UpdateRecording, HoldsTheMostThatIsAllowed) {
  auto recorder = node_.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const std::string recording = recorder->admission.accept.recording;
  ASSERT_TRUE(recorder->Push(0).ok());
  // Characters that take six bytes in a manifest.
  const std::string most(1024, '\x01');
  Labels labels;
  for (char c = 'a'; c < 'a' + 16; ++c) labels[{c}] = std::string(4095, '\x01');
  const absl::Status status = Update(recording, most, labels).status();
  // A device's slot has room for less; the recording must not end for want of it.
  const bool fits = GetParam() != "device";
  EXPECT_EQ(fits ? "" : "LIMIT_REACHED", status.ok() ? "" : Reason(status)) << status;
  ASSERT_TRUE(recorder->Push(1).ok());
  ASSERT_TRUE(recorder->Finish().ok());
  recorder = absl::CancelledError();
  RestartFromFiles();
  ExpectNoted(recording, fits ? most : "", fits ? labels : Labels());
  EXPECT_EQ(node_.Get(recording).state, services::RecordingState::kSealed);
}

// One change leaves room for the next only as far as both fit.
TEST(UpdateRecordingOnADevice, CountsWhatIsNotedAlready) {
  NodeFixture node("device");
  auto recorder = *node.Record();
  ASSERT_TRUE(recorder.Push(0).ok());
  const std::string recording = recorder.admission.accept.recording;
  const auto update = [&](const RecordingUpdate& change) {
    return node.Meanwhile([&] { return node.node().recordings().UpdateRecording(change); })
        .status();
  };
  const std::string words(1024, '\x01');  // six bytes each
  EXPECT_TRUE(
      update(RecordingUpdate{.name = recording}.Set(&services::Recording::description, words))
          .ok());
  const Labels labels{{"x", words}, {"y", words}};
  const absl::Status both =
      update(RecordingUpdate{.name = recording}.Set(&services::Recording::labels, labels));
  EXPECT_EQ(Reason(both), "LIMIT_REACHED") << both;
  ASSERT_TRUE(recorder.Finish().ok());
  EXPECT_EQ(node.Get(recording).description, words);
}

INSTANTIATE_TEST_SUITE_P(Stores, UpdateRecording, testing::Values("posix", "device", "memory"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
