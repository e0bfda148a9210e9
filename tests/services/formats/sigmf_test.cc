// Archives of SigMF go out and come in again.
#include "services/formats/sigmf/sigmf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {
namespace {

using testing::ElementsAre;

class SigmfFileTest : public testing::Test {
 protected:
  void Export(const std::string& path, Recording recording) {
    const auto subject = SubjectOf(recording, {});
    ASSERT_TRUE(subject.ok()) << subject.status();
    const auto exported = formats::Export(*subject, RequestFor("sigmf", path, feed_));
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
    EXPECT_THAT(
        content.annotations,
        ElementsAre(
            Annotation{.label = "signal", .comment = "frequency=100000000"},
            Annotation{.sample_start = 10, .sample_count = 5, .label = "burst", .foreign = true}));
    EXPECT_EQ(*ReadAll(**reader), feed_.samples);
  }
}

TEST_F(SigmfFileTest, WhatWasMissingIsAGapAgain) {
  feed_.missing = {1};
  feed_.sample_bytes = 4;
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
  // The meta comes last, and ends with a bracket.
  ExpectEachCutIsNamed(file, file.rfind('}') + 1, "sigmf", ScratchPath("cut.sigmf"));
}

TEST_F(SigmfFileTest, AMetaThatIsCutIsNamed) {
  const std::string path = ScratchPath("a.sigmf-meta");
  Export(path, RecordingOf(feed_.samples, "cu8"));
  const std::string text = ReadFile(path);
  WriteFile(ScratchPath("cut.sigmf-data"), "samples");
  ExpectEachCutIsNamed(text, text.size() - 2, "sigmf", ScratchPath("cut.sigmf-meta"));
}

}  // namespace
}  // namespace tapedeck::services::formats
