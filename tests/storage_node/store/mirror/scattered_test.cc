// What each copy has lost of a recording the other one has: the parts are put together, and one
// scrub makes both copies sound.
#include "tests/storage_node/store/mirror/mirror_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::LunState;
using services::RecordingState;

constexpr uint64_t kLength = 20;
constexpr const char* kParts[] = {"data", "index", "manifest.json"};

class Scattered : public MirrorTest, public testing::WithParamInterface<std::string> {
 protected:
  Scattered() : MirrorTest(GetParam()) {}

  void ForgetCatalog() const {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(deck_.state_dir() + "/catalog.sqlite" + suffix);
    }
  }
  // File `i` stays on member 0 if bit i of `mask` is set, else on member 1.
  void Scatter(const std::string& recording, unsigned mask) const {
    for (unsigned i = 0; i < std::size(kParts); ++i) {
      const int without = (mask >> i & 1) != 0 ? 1 : 0;
      fs::remove(deck_.Directory(recording, without) + "/" + kParts[i]);
    }
  }
  void ExpectMended(const std::string& recording) {
    EXPECT_EQ(deck_.Get(recording).state, RecordingState::kSealed);
    ExpectPlays(recording, kLength);
    ExpectScrubMends();
    ExpectSameData(recording);
    EXPECT_EQ(Scrub().damaged, 0u) << "nothing is left to mend";
    EXPECT_TRUE(deck_.Verify(recording).empty());
  }
};

TEST_P(Scattered, PartsOfBothCopiesMakeTheRecording) {
  for (const bool catalog : {true, false}) {
    for (unsigned mask = 1; mask < 7; ++mask) {
      SCOPED_TRACE(testing::Message() << "mask " << mask << (catalog ? "" : ", no catalog"));
      const std::string recording = deck_.RecordAndSeal(kLength);
      deck_.Stop();
      Scatter(recording, mask);
      if (!catalog) ForgetCatalog();
      deck_.Start();
      ExpectMended(recording);
      if (HasFailure()) return;
      ASSERT_TRUE(deck_.node().recordings().DeleteRecording(recording).ok());
    }
  }
}

// Member 1 misses something, so that its copy is behind; then member 0 loses the recording.
TEST_P(Scattered, WhatTheWholeCopyLostTheOtherGives) {
  for (const bool restart : {false, true}) {
    const std::string recording = deck_.RecordAndSeal(kLength);
    MoveAway(1);
    EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
    const std::string later = deck_.RecordAndSeal(4);
    PutBack(1);
    EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
    fs::remove_all(deck_.Directory(recording, 0));
    if (restart) deck_.Start();
    ExpectMended(recording);
    ExpectSameData(later);
    if (HasFailure()) return;
  }
}

// Without an index only payload files of zeros say that nothing was recorded.
TEST_P(Scattered, PayloadOnOneCopyAloneIsPayload) {
  std::string recording;
  {
    auto recorder = *deck_.Record();
    PushDurably(recorder, 0, kLength);
    recording = recorder.admission.accept.recording;
  }
  deck_.Stop();
  const std::string payload = TextOf(deck_.Directory(recording, 1) + "/data");
  WriteFile(deck_.Directory(recording, 0) + "/index", "");
  fs::remove(deck_.Directory(recording, 0) + "/data");
  fs::remove(deck_.Directory(recording, 1) + "/index");
  for (const int member : {0, 1}) fs::remove(deck_.Directory(recording, member) + "/manifest.json");
  deck_.Start();
  ASSERT_TRUE(fs::exists(deck_.Directory(recording, 1) + "/data"));
  EXPECT_TRUE(TextOf(deck_.Directory(recording, 1) + "/data") == payload);
}

// Member 1 is away while the recording goes on. Its index ends early, which says nothing of what
// member 0 held.
TEST_P(Scattered, ALateCopyIsNoReasonToCutTheOther) {
  const std::string zeros(64 << 10, '\0');
  for (const bool with_manifest : {true, false}) {
    for (const std::string& index : {std::string(), zeros}) {
      SCOPED_TRACE(testing::Message() << index.size() << " bytes, manifest " << with_manifest);
      std::string recording;
      {
        auto recorder = *deck_.Record();
        recording = recorder.admission.accept.recording;
        PushDurably(recorder, 0, 8);
        MoveAway(1);
        EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
        PushDurably(recorder, 8, kLength - 8);
      }
      deck_.Stop();
      PutBack(1);
      const std::string payload = TextOf(deck_.Directory(recording, 0) + "/data");
      WriteFile(deck_.Directory(recording, 0) + "/index", index);
      if (!with_manifest) fs::remove(deck_.Directory(recording, 0) + "/manifest.json");
      deck_.Start();
      ASSERT_TRUE(fs::exists(deck_.Directory(recording, 0) + "/data"));
      EXPECT_TRUE(TextOf(deck_.Directory(recording, 0) + "/data") == payload);
      Scrub();
    }
  }
}

// Member 1 is away while somebody keeps the recording, and then member 0 loses the manifest.
TEST_P(Scattered, AnOlderManifestTakesNoKeepBack) {
  const std::string recording = deck_.RecordAndSeal(kLength);
  MoveAway(1);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
  ASSERT_TRUE(deck_.node().recorder().KeepRecording(recording, true).ok());
  deck_.Stop();
  PutBack(1);
  fs::remove(deck_.Directory(recording, 0) + "/manifest.json");
  deck_.Start();
  ExpectScrubMends();
  EXPECT_TRUE(deck_.Get(recording).kept);
  ExpectSameData(recording);
  EXPECT_NE(TextOf(deck_.Directory(recording, 0) + "/manifest.json").find("\"kept\": true"),
            std::string::npos);
}

// Nor where nobody else knows of the keep. The other manifest is damaged, which is no word of what
// it said.
TEST_P(Scattered, AnOlderManifestStandsInForNoDamagedOne) {
  const std::string recording = deck_.RecordAndSeal(kLength);
  const std::string path = deck_.Directory(recording, 0) + "/manifest.json";
  MoveAway(1);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
  ASSERT_TRUE(deck_.node().recorder().KeepRecording(recording, true).ok());
  deck_.Stop();
  PutBack(1);
  const std::string manifest = TextOf(path);
  FlipBit(path, manifest.find("\"kept\""));
  ForgetCatalog();
  deck_.Start();
  const auto found = deck_.node().recordings().GetRecording(recording);
  EXPECT_TRUE(!found.ok() || found->kept) << "it may be deleted for want of room";
  Scrub();
  deck_.Stop();
  ForgetCatalog();
  deck_.Start();
  const auto scrubbed = deck_.node().recordings().GetRecording(recording);
  EXPECT_TRUE(!scrubbed.ok() || scrubbed->kept) << "a scrub has not been over it";
  deck_.Stop();
  WriteFile(path, manifest);
  ForgetCatalog();
  deck_.Start();
  EXPECT_TRUE(deck_.Get(recording).kept);
  ExpectMended(recording);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Scattered, testing::Values("posix", "direct"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tapedeck::storage_node
