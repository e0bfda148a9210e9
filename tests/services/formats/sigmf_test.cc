// Archives of SigMF go out and come in again.
#include "services/formats/sigmf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "services/formats/tar.h"
#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {
namespace {

using testing::ElementsAre;

class SigmfFileTest : public testing::Test {
 protected:
  void Export(const std::string& path, Recording recording) {
    const auto subject = SubjectOf(recording, {});
    ASSERT_TRUE(subject.ok()) << subject.status();
    const auto exported = formats::Export(*subject, WishFor("sigmf", path, feed_));
    ASSERT_TRUE(exported.ok()) << exported.status();
  }

  Feed feed_{.samples = Samples(3 * kBlockBytes)};
};

TEST_F(SigmfFileTest, AnArchiveHasAllThatThePairHas) {
  Recording recording = RecordingOf(feed_.samples, "ci16_le");
  // The feed counts its stream from 1000 on.
  recording.annotations = {{.sample_start = 1010, .sample_count = 5, .label = "burst"},
                           {.sample_start = 1000, .label = "signal", .comment = "frequency=1e8"}};
  for (const char* name : {"pair.sigmf-meta", "both.sigmf"}) {
    const std::string path = ScratchPath(name);
    Export(path, recording);
    const auto reader = OpenSigmf(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const Content& content = (*reader)->content();
    EXPECT_EQ(content.datatype, "ci16_le");
    EXPECT_EQ(content.sample_rate, 1e6);
    EXPECT_EQ(content.start_ns, recording.start_time_ns);
    EXPECT_THAT(content.annotations,
                ElementsAre(Annotation{.label = "signal", .comment = "frequency=100000000"},
                            Annotation{.sample_start = 10, .sample_count = 5, .label = "burst"}));
    EXPECT_EQ(*ReadAll(**reader), feed_.samples);
  }
}

TEST_F(SigmfFileTest, WhatWasMissingIsAGapAgain) {
  feed_.missing = {1};
  const std::string path = ScratchPath("both.sigmf");
  Export(path, RecordingOf(feed_.samples, "ci16_le", 1));
  const auto reader = OpenSigmf(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT((*reader)->content().gaps, ElementsAre(SampleRange{1024, 1024}));
  EXPECT_TRUE((*reader)->content().annotations.empty());
}

TEST_F(SigmfFileTest, AnArchiveThatIsCutIsNamed) {
  feed_.samples = Samples(600);
  const std::string path = ScratchPath("both.sigmf");
  Export(path, RecordingOf(feed_.samples, "cu8"));
  const std::string file = ReadFile(path);
  ExpectEachCutIsNamed(file, file.size() - kTarEndBytes + 1, "sigmf", ScratchPath("cut.sigmf"));
}

TEST_F(SigmfFileTest, AMetaThatIsCutIsNamed) {
  const std::string path = ScratchPath("a.sigmf-meta");
  Export(path, RecordingOf(feed_.samples, "cu8"));
  const std::string text = ReadFile(path);
  WriteFile(ScratchPath("cut.sigmf-data"), "samples");
  ExpectEachCutIsNamed(text, text.size() - 2, "sigmf", ScratchPath("cut.sigmf-meta"));
}

TEST(TarTest, ASizeBeyondAHeadersIsInOneBefore) {
  const std::string path = ScratchPath("a.tar");
  const uint64_t bytes = uint64_t{1} << 40;
  const std::string header = TarHeader({"folder", "name", bytes});
  EXPECT_EQ(header.size(), 3 * kTarBlockBytes);
  WriteFile(path, header);
  std::filesystem::resize_file(path, header.size() + bytes);
  const auto file = files::OpenInput(path);
  ASSERT_TRUE(file.ok()) << file.status();
  uint64_t at = 0;
  const auto entry = NextInTar(*file, &at);
  ASSERT_TRUE(entry.ok() && entry->has_value()) << entry.status();
  EXPECT_EQ((*entry)->name, "name");
  EXPECT_EQ((*entry)->bytes, bytes);
  EXPECT_EQ((*entry)->begin, header.size());
  std::filesystem::remove(path);
}

// Its bytes there are a map of its holes, and what lies between them.
TEST(TarTest, ASparseFileIsRefusedByName) {
  const std::string sparse = ScratchPath("sparse");
  WriteFile(sparse, "begin");
  std::filesystem::resize_file(sparse, 400'000);
  const std::string path = ScratchPath("a.tar");
  for (const char* version : {"0.0", "0.1", "1.0"}) {
    const std::string command = absl::StrCat("tar -S --format=pax --sparse-version=", version,
                                             " -C / -cf ", path, " ", sparse.substr(1));
    ASSERT_EQ(std::system(command.c_str()), 0);
    const auto file = files::OpenInput(path);
    uint64_t from = 0;
    const absl::Status status = NextInTar(*file, &from).status();
    EXPECT_EQ(ReasonIn(status), "FILE_INVALID") << version;
    EXPECT_NE(std::string(status.message()).find("GNU.sparse"), std::string::npos) << status;
  }
}

TEST(TarTest, AHeaderThatIsNoneIsRefused) {
  const std::string path = ScratchPath("a.tar");
  const std::string good = TarHeader({"folder", "name", 0}) + std::string(kTarEndBytes, '\0');
  for (size_t at = 0; at < kTarBlockBytes; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    WriteFile(path, bad);
    const auto file = files::OpenInput(path);
    uint64_t from = 0;
    EXPECT_EQ(ReasonIn(NextInTar(*file, &from).status()), "FILE_INVALID") << at;
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
