// A manifest copy that is gone, damaged, or older than the other: a scrub replaces it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "storage_node/format/manifest.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/repair/copies_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::Scrub;

namespace fs = std::filesystem;

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

class ManifestRepair : public CopiesTest {
 protected:
  ManifestRepair() {
    older_ = TextOf(File(0));
    Annotate("mark");
    sound_ = Manifests();
    EXPECT_EQ(sound_[0], sound_[1]);
    EXPECT_NE(sound_[0], older_);
  }

  std::string File(int copy) const { return Path("manifest.json", copy); }
  std::vector<std::string> Manifests() const { return Read("manifest.json"); }
  void Annotate(const std::string& label) {
    const auto status = node_.node().recorder().AnnotateRecording(name_, {.label = label});
    EXPECT_TRUE(status.ok()) << status;
  }
  // Sound, and changed so.
  std::string Changed(const std::function<void(format::Manifest*)>& change) const {
    format::Manifest manifest = *format::DecodeManifest(sound_[0]);
    change(&manifest);
    return format::EncodeManifest(manifest);
  }

  std::string Catalog(const char* suffix) const {
    return node_.state_dir() + "/catalog.sqlite" + suffix;
  }
  // With the node stopped.
  void SaveCatalog() const {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(Catalog(suffix) + ".saved");
      if (fs::exists(Catalog(suffix))) fs::copy(Catalog(suffix), Catalog(suffix) + ".saved");
    }
  }
  void RestoreCatalog() const {
    ForgetCatalog();
    for (const char* suffix : {"", "-wal", "-shm"}) {
      if (fs::exists(Catalog(suffix) + ".saved")) {
        fs::copy(Catalog(suffix) + ".saved", Catalog(suffix));
      }
    }
  }

  void ExpectRepaired() {
    const Scrub scrub = RunScrub();
    EXPECT_EQ(scrub.damaged, 1u);
    EXPECT_EQ(scrub.repaired, 1u);
    ASSERT_EQ(scrub.findings.size(), 1u);
    EXPECT_EQ(scrub.findings[0].recording, name_);
    EXPECT_EQ(scrub.findings[0].block.kind, services::DamageKind::kManifest);
    EXPECT_THAT(scrub.findings[0].block.detail, testing::HasSubstr("rewritten from copy"));
    EXPECT_TRUE(scrub.findings[0].repaired);
    EXPECT_EQ(Manifests(), sound_);
    EXPECT_EQ(RunScrub().damaged, 0u) << "the second scrub";
  }
  void ExpectLeftAlone(const std::string& detail) {
    const auto before = Manifests();
    const Scrub scrub = RunScrub();
    EXPECT_EQ(scrub.damaged, 1u);
    EXPECT_EQ(scrub.repaired, 0u);
    ASSERT_EQ(scrub.findings.size(), 1u);
    EXPECT_EQ(scrub.findings[0].block.kind, services::DamageKind::kManifest);
    EXPECT_THAT(scrub.findings[0].block.detail, testing::HasSubstr(detail));
    EXPECT_EQ(Manifests(), before);
  }

  std::string older_;
  std::vector<std::string> sound_;
};

TEST_P(ManifestRepair, EveryKindOfDamageToOneCopy) {
  const std::string open = Changed([](format::Manifest* manifest) {
    manifest->state = services::RecordingState::kRecording;
    manifest->blocks = manifest->bytes = manifest->durable_watermark = 0;
  });
  const std::string other = Changed(
      [](format::Manifest* manifest) { manifest->identity.recording.bytes[3] ^= std::byte{1}; });
  struct Planted {
    const char* what;
    std::function<void(const std::string&)> damage;
  };
  const Planted planted[] = {
      {"gone", [](const auto& path) { fs::remove(path); }},
      {"empty", [](const auto& path) { fs::resize_file(path, 0); }},
      {"cut", [](const auto& path) { fs::resize_file(path, 200); }},
      {"a bit", [](const auto& path) { FlipBit(path, 200); }},
      {"no JSON", [](const auto& path) { Write(path, "[1, {\"crc32c\": 3}"); }},
      {"of another recording", [&](const auto& path) { Write(path, other); }},
      {"not closed yet", [&](const auto& path) { Write(path, open); }},
      {"before it was annotated", [&](const auto& path) { Write(path, older_); }},
  };
  for (const int copy : {0, 1}) {
    for (const Planted& p : planted) {
      SCOPED_TRACE(testing::Message() << p.what << ", copy " << copy);
      Stopped([&] { p.damage(File(copy)); });
      ExpectRepaired();
      if (HasFailure()) return;
    }
  }
  EXPECT_THAT(node_.Verify(name_), testing::IsEmpty());
}

TEST_P(ManifestRepair, EitherMendedCopyServesAlone) {
  for (const int copy : {0, 1}) {
    Stopped([&] { fs::remove(File(copy)); });
    ExpectRepaired();
    Stopped([&] {
      fs::remove(File(1 - copy));
      ForgetCatalog();
    });
    const services::Recording recording = node_.Get(name_);
    EXPECT_EQ(recording.state, services::RecordingState::kSealed);
    EXPECT_EQ(recording.annotations.size(), 1u);
    ExpectPlays();
    ExpectRepaired();
  }
}

// Also once nobody remembers what the newer one says.
TEST_P(ManifestRepair, TheNewerCopyIsTheTruthOfACatalogThatIsRebuilt) {
  for (const int copy : {0, 1}) {
    SCOPED_TRACE(copy);
    Stopped([&] {
      Write(File(copy), older_);
      ForgetCatalog();
    });
    EXPECT_EQ(node_.Get(name_).annotations.size(), 1u);
    ExpectRepaired();
  }
}

// As if the node had died before the catalog knew it, and one member had never got it.
TEST_P(ManifestRepair, TheNewerCopyReplacesTheOneThatTheCatalogRemembers) {
  for (const int copy : {0, 1}) {
    SCOPED_TRACE(copy);
    const auto remembered = Manifests();
    Stopped([&] { SaveCatalog(); });
    Annotate("later");
    sound_ = Manifests();
    Stopped([&] {
      RestoreCatalog();
      Write(File(copy), remembered[copy]);
    });
    ExpectRepaired();
  }
}

TEST_P(ManifestRepair, EachChangeIsOfAGenerationOfItsOwn) {
  const auto generation = [&] { return format::DecodeManifest(TextOf(File(0)))->generation; };
  const uint64_t before = generation();
  EXPECT_GT(before, format::DecodeManifest(older_)->generation);
  Annotate("another");
  EXPECT_EQ(generation(), before + 1);
  ASSERT_TRUE(node_.node().recorder().KeepRecording(name_, true).ok());
  EXPECT_EQ(generation(), before + 2);
  ASSERT_TRUE(node_.node().recorder().KeepRecording(name_, false).ok());
  EXPECT_EQ(generation(), before + 3);
  EXPECT_EQ(Manifests()[0], Manifests()[1]);
}

TEST_P(ManifestRepair, WhatBothCopiesLostIsReportedAndLeftAlone) {
  Stopped([&] {
    fs::remove(File(0));
    FlipBit(File(1), 200);
  });
  ExpectLeftAlone("no copy is sound");
  ExpectPlays();
}

TEST_P(ManifestRepair, CopiesThatNobodyCanTellApartAreReportedAndLeftAlone) {
  const std::string one = Changed([](format::Manifest* manifest) { manifest->kept = true; });
  const std::string two = Changed([](format::Manifest* manifest) { manifest->cause = "none"; });
  Stopped([&] {
    Write(File(0), one);
    Write(File(1), two);
  });
  ExpectLeftAlone("differ although each is sound");
  Annotate("again");
  EXPECT_EQ(Manifests()[0], Manifests()[1]) << "writing it anew makes them alike";
  EXPECT_EQ(RunScrub().damaged, 0u);
}

TEST_P(ManifestRepair, ThatTheMemberRefusesStaysReported) {
  Stopped([&] {
    fs::remove(File(1));
    fs::create_directory(File(1) + ".new");  // where the new one is written first
  });
  const Scrub scrub = RunScrub();
  EXPECT_EQ(scrub.damaged, 1u);
  EXPECT_EQ(scrub.repaired, 0u);
  EXPECT_THAT(scrub.findings.at(0).block.detail,
              testing::AllOf(testing::HasSubstr("no such file"),
                             testing::HasSubstr("rewriting it failed: open " + File(1) + ".new")));
  EXPECT_EQ(TextOf(File(0)), sound_[0]);
  ExpectPlays();
  fs::remove(File(1) + ".new");
  ExpectRepaired();
}

TEST_P(ManifestRepair, StopsAndGoesOn) {
  Stopped([&] { fs::remove(File(0)); });
  const auto start = [this](uint64_t rate) {
    return node_.node().scrubs().StartScrub({.parent = "luns/l", .rate_bytes_per_s = rate}).ok();
  };
  ASSERT_TRUE(start(1));
  ASSERT_TRUE(node_.executor().RunUntil(
      [&] { return node_.node().scrubs().GetScrub("luns/l")->damaged == 1; }));
  const Scrub stopped = *node_.node().scrubs().StopScrub("luns/l");
  EXPECT_EQ(stopped.state, services::ScrubState::kStopped);
  EXPECT_EQ(stopped.repaired, 1u);
  EXPECT_EQ(stopped.blocks, 0u) << "the rate counts what the manifests took";
  Annotate("while nothing waits for the scrub");
  ASSERT_TRUE(start(kFast));
  const Scrub rest = node_.EndScrub("luns/l");
  EXPECT_EQ(rest.damaged, 0u);
  EXPECT_EQ(rest.blocks, kBlocks);
}

TEST_P(ManifestRepair, WhileItIsAnnotated) {
  constexpr int kLabels = 40;
  std::atomic<bool> done = false;
  std::thread annotating([&] {
    for (int i = 0; i < kLabels; ++i) Annotate(std::to_string(i));
    done = true;
  });
  for (int scrubs = 0; !done || scrubs < 3; ++scrubs) {
    fs::remove(File(scrubs % 2));
    const Scrub scrub = RunScrub();
    EXPECT_EQ(scrub.damaged, scrub.repaired);
  }
  annotating.join();
  fs::remove(File(0));
  EXPECT_EQ(RunScrub().repaired, 1u);
  const auto after = Manifests();
  EXPECT_EQ(after[0], after[1]);
  const auto manifest = format::DecodeManifest(after[0]);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->annotations.size(), 1u + kLabels);
}

INSTANTIATE_TEST_SUITE_P(Stores, ManifestRepair, testing::Values("posix", "direct"), NameOfStore);

// A slot of the device whose newer copy is damaged says what the one before said.
TEST(BlockManifestRepair, SlotThatFellBackIsWrittenAnew) {
  constexpr uint64_t kImageBytes = 64 << 20;
  NodeFixture node("device", 2, 0, kImageBytes);
  const std::string name = node.RecordAndSeal(20);
  ASSERT_TRUE(node.node().recorder().AnnotateRecording(name, {.label = "latest-mark"}).ok());
  const auto scrub = [&] {
    EXPECT_TRUE(
        node.node()
            .scrubs()
            .StartScrub(
                {.parent = "luns/l", .rate_bytes_per_s = uint64_t{1} << 40, .restart = true})
            .ok());
    return node.EndScrub("luns/l");
  };
  EXPECT_EQ(scrub().damaged, 0u);
  node.Stop();
  const std::string image = node.dir().path() + "/m1";
  const size_t at = TextOf(image).find("latest-mark");
  ASSERT_NE(at, std::string::npos);
  FlipBit(image, at);
  node.Start();
  const Scrub found = scrub();
  ASSERT_EQ(found.damaged, 1u);
  EXPECT_EQ(found.repaired, 1u);
  EXPECT_EQ(found.findings[0].block.kind, services::DamageKind::kManifest);
  EXPECT_THAT(found.findings[0].block.detail, testing::HasSubstr("it is older; copy 1"));
  node.Stop();
  EXPECT_NE(TextOf(image).find("latest-mark"), std::string::npos);
  node.Start();
  EXPECT_EQ(scrub().damaged, 0u);
  EXPECT_EQ(node.PlayAll(name).size(), 20u);
}

}  // namespace
}  // namespace tapedeck::storage_node
