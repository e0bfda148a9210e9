// A LUN from a stranger: what lies on its members was written to harm whoever reads it. The node
// says what is wrong with it, and serves the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "absl/strings/str_cat.h"
#include "storage_node/format/config.h"
#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"
#include "storage_node/node/check.h"
#include "tests/scratch_file.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint64_t kCraftedBlocks = 8;

std::string TextOf(const std::string& path) { return ReadFile(path); }

class CraftedFiles : public testing::Test {
 protected:
  explicit CraftedFiles(int members = 1) : node_("posix", members) {
    honest_ = node_.RecordAndSeal(kCraftedBlocks, 1);
    crafted_ = node_.RecordAndSeal(kCraftedBlocks, 2);
  }

  std::string ManifestPath(int member = 0) const {
    return node_.Directory(crafted_, member) + "/manifest.json";
  }
  void ChangeManifest(const std::function<void(format::Manifest*)>& change) {
    for (int m = 0; fs::exists(ManifestPath(m)); ++m) {
      format::Manifest manifest = *format::DecodeManifest(TextOf(ManifestPath(m)));
      change(&manifest);
      std::ofstream(ManifestPath(m)) << format::EncodeManifest(manifest);
    }
  }

  // With nothing but the files to go by.
  void RestartFromFiles() {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(node_.state_dir() + "/catalog.sqlite" + suffix);
    }
    node_.Start();
  }

  // The crafted recording is left where it is and not shown; the honest one plays.
  void ExpectLeftOut() {
    const auto found = node_.node().recordings().GetRecording(crafted_);
    EXPECT_EQ(Reason(found.status()), "RECORDING_NOT_FOUND");
    if (found.ok()) node_.PlayAll(crafted_, 2);
    EXPECT_TRUE(fs::exists(ManifestPath()));
    EXPECT_EQ(node_.PlayAll(honest_, 1).size(), kCraftedBlocks);
  }

  // What --check says of the crafted recording.
  std::string CheckStopped() {
    std::string said;
    const auto totals = node::CheckStorage(
        node_.state_dir(), dataplane::SystemClock(), [&](const node::Finding& finding) {
          absl::StrAppend(&said, finding.where, " ", finding.kind, " ", finding.detail, "\n");
        });
    EXPECT_TRUE(totals.ok()) << totals.status();
    return said;
  }

  NodeFixture node_;
  std::string honest_, crafted_;
};

class CraftedStripes : public CraftedFiles {
 protected:
  CraftedStripes() : CraftedFiles(2) {}
};

// The entry has room for pieces of more than a block, and the data file has the bytes: whoever
// believes it writes them behind the slot.
TEST_F(CraftedFiles, EntryLargerThanTheSlotIsADamagedBlock) {
  node_.Stop();
  const format::Manifest manifest = *format::DecodeManifest(TextOf(ManifestPath()));
  const format::EntryFormat entries = manifest.entries();
  constexpr uint64_t kMore = kBlockBytes + 8192;
  const std::string data = TextOf(node_.Directory(crafted_) + "/data").substr(kBlockBytes, kMore);
  const auto payload = std::as_bytes(std::span(data));
  format::IndexEntry entry{.sequence = 1,
                           .payload_bytes = static_cast<uint32_t>(payload.size()),
                           .payload_crc32c = dataplane::Crc32c(payload),
                           .pieces = format::CrcOfPieces(payload, entries.piece_bytes)};
  entry.check = format::CheckValue(manifest.identity, 1, format::PlaceOf(1, kBlockBytes, 1),
                                   entry.payload_crc32c, kMore);
  std::string record(entries.entry_bytes, '\0');
  entries.Encode(entry, 0, std::as_writable_bytes(std::span(record)));
  Overwrite(node_.Directory(crafted_) + "/index", entries.Offset(1), record);
  node_.Start();

  const auto damaged = node_.Verify(crafted_);
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].sequence, 1u);
  EXPECT_EQ(damaged[0].kind, services::DamageKind::kIndex);
  const auto headers = node_.PlayAll(crafted_, 2);
  ASSERT_EQ(headers.size(), kCraftedBlocks);
  EXPECT_EQ(headers[1].flags, dataplane::kBlockMissing);
}

// A flag that says "damaged" is the reader's to give, and nobody's to write.
TEST_F(CraftedFiles, FlagsOfNoRecorderAreNotPlayed) {
  node_.Stop();
  const format::EntryFormat entries = format::DecodeManifest(TextOf(ManifestPath()))->entries();
  const std::string index = node_.Directory(crafted_) + "/index";
  std::string record = TextOf(index).substr(entries.Offset(1), entries.entry_bytes);
  auto entry = entries.Decode(std::as_bytes(std::span(record)), 1, 0);
  ASSERT_TRUE(entry.ok()) << entry.status();
  entry->flags = ~uint32_t{dataplane::kBlockMissing};
  entries.Encode(*entry, 0, std::as_writable_bytes(std::span(record)));
  Overwrite(index, entries.Offset(1), record);
  node_.Start();
  const auto headers = node_.PlayAll(crafted_, 2);
  ASSERT_EQ(headers.size(), kCraftedBlocks);
  EXPECT_EQ(headers[1].flags, dataplane::kBlockPartial);
}

// It has no check value that fits, so that it is a damaged one: its index says what was recorded.
TEST_F(CraftedFiles, DeepManifestStaysBesideTheNext) {
  node_.Stop();
  constexpr int kLevels = 400'000;
  std::ofstream(ManifestPath()) << R"({"a":)" << std::string(kLevels, '[')
                                << std::string(kLevels, ']') << "}";
  RestartFromFiles();
  EXPECT_EQ(node_.PlayAll(crafted_, 2).size(), kCraftedBlocks);
  EXPECT_EQ(node_.PlayAll(honest_, 1).size(), kCraftedBlocks);
  EXPECT_EQ(fs::file_size(ManifestPath() + ".damaged"), 2 * kLevels + 6);
}

TEST_F(CraftedFiles, DeepChannelAndLunFilesAreNamed) {
  node_.Stop();
  const std::string deep = std::string(60'000, '[');
  std::ofstream(node_.dir().path() + "/m0/c/channel.json") << R"({"a":)" << deep;
  node_.Start();
  EXPECT_THAT(node_.node().luns().GetLun("luns/l")->cause, HasSubstr("nested deeper than 32"));
  node_.Stop();
  std::ofstream(node_.dir().path() + "/m0/.tapedeck/lun.json") << R"({"a":)" << deep;
  node_.Start();
  EXPECT_THAT(node_.node().luns().GetLun("luns/l")->cause, HasSubstr("nested deeper than 32"));
}

// Sparse: they take no space, and would take as much memory as they are long.
TEST_F(CraftedFiles, HugeMetadataFilesAreNotRead) {
  node_.Stop();
  fs::resize_file(ManifestPath(), 300 << 20);
  RestartFromFiles();
  ExpectLeftOut();
  node_.Stop();
  EXPECT_THAT(CheckStopped(), HasSubstr("Tapedeck writes at most"));
  node_.Start();
  for (const char* file : {"/m0/c/channel.json", "/m0/.tapedeck/lun.json"}) {
    node_.Stop();
    fs::resize_file(node_.dir().path() + file, 300 << 20);
    node_.Start();
    const std::string cause = node_.node().luns().GetLun("luns/l")->cause;
    EXPECT_THAT(cause, HasSubstr(file));
    EXPECT_THAT(cause, HasSubstr("314572800 bytes, and Tapedeck writes at most 65536"));
  }
}

// What a lock file says is shown to whoever finds it locked.
TEST_F(CraftedFiles, HugeLockFileIsNotShown) {
  fs::resize_file(node_.state_dir() + "/lock", 300 << 20);
  const absl::Status locked = node::RebuildCatalog(node_.state_dir());
  EXPECT_EQ(Reason(locked), "MEMBER_UNUSABLE");
  EXPECT_LT(locked.message().size(), 1000u);
}

TEST_F(CraftedStripes, ManifestOfMoreMembersIsLeftOut) {
  node_.Stop();
  ChangeManifest([](format::Manifest* manifest) { manifest->members = 3; });
  RestartFromFiles();
  ExpectLeftOut();
  node_.Stop();
  EXPECT_THAT(CheckStopped(), HasSubstr("says 3 members, and luns/l has 2"));
}

// Salvage gives back what was reserved on each member.
TEST_F(CraftedStripes, ManifestOfFewerMembersIsNotSalvaged) {
  node_.Stop();
  ChangeManifest([](format::Manifest* manifest) {
    manifest->members = 1;
    manifest->state = services::RecordingState::kRecording;
    manifest->blocks = manifest->bytes = manifest->durable_watermark = 0;
  });
  RestartFromFiles();
  ExpectLeftOut();
}

// All below it was durable, it says: more than can be counted one by one.
TEST_F(CraftedFiles, WatermarkFarAboveTheEndTakesNoMemory) {
  node_.Stop();
  constexpr uint64_t kDurable = uint64_t{1} << 40;
  ChangeManifest([](format::Manifest* manifest) {
    manifest->state = services::RecordingState::kRecording;
    manifest->blocks = manifest->bytes = manifest->durable_watermark = 0;
  });
  const format::Manifest manifest = *format::DecodeManifest(TextOf(ManifestPath()));
  for (const auto& [generation, durable] :
       {std::pair(uint64_t{8}, kDurable), std::pair(uint64_t{9}, UINT64_MAX)}) {
    const format::Page page = format::EncodeWatermark(
        {.recording = manifest.identity.recording, .generation = generation, .durable = durable},
        0);
    Overwrite(node_.Directory(crafted_) + "/index", format::WatermarkOffset(generation),
              std::string(reinterpret_cast<const char*>(page.data()), page.size()));
  }
  RestartFromFiles();
  const services::Recording recording = node_.Get(crafted_);
  EXPECT_EQ(recording.state, services::RecordingState::kSalvaged);
  EXPECT_EQ(recording.bytes, kCraftedBlocks * kBlockBytes);
  EXPECT_EQ(node_.PlayAll(honest_, 1).size(), kCraftedBlocks);
}

// A name that no request may have, with the mark of this LUN.
TEST_F(CraftedFiles, RecordingWhoseNameIsNoIdIsSomebodyElses) {
  node_.Stop();
  const std::string odd = node_.dir().path() + "/m0/c/odd \n name";
  fs::copy(node_.Directory(crafted_), odd);
  fs::remove(odd + "/manifest.json");
  RestartFromFiles();
  EXPECT_EQ(node_.node().recordings().ListRecordings("luns/l/channels/c")->size(), 2u);
  EXPECT_TRUE(fs::exists(odd + "/data"));
}

// A name with a scheme is none that a directory or a device can have, even if it leads to one.
TEST_F(CraftedFiles, MembersThatAreNoPathsLeadNowhere) {
  node_.Stop();
  const std::string file = node_.state_dir() + "/luns/l.json";
  auto lun = format::DecodeLun(TextOf(file));
  ASSERT_TRUE(lun.ok()) << lun.status();
  const std::string named = "x:" + lun->members[0];
  fs::create_symlink(lun->members[0].substr(0, 1), "x:");
  lun->members = {named};
  std::ofstream(file) << format::EncodeLun(*lun, 0);
  node_.Start();
  const auto offline = node_.node().luns().GetLun("luns/l");
  fs::remove("x:");
  ASSERT_TRUE(offline.ok()) << offline.status();
  EXPECT_EQ(offline->state, services::LunState::kOffline);
  EXPECT_THAT(offline->cause, HasSubstr("absolute paths"));
}

TEST_F(CraftedFiles, ADescriptionIsNoLongerThanAny) {
  node_.Stop();
  ChangeManifest([](format::Manifest* manifest) { manifest->description.assign(1025, 'x'); });
  RestartFromFiles();
  ExpectLeftOut();
}

}  // namespace
}  // namespace tapedeck::storage_node
