// WAV files go out and come in again, small and large.
#include "services/formats/wav/wav.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"
#include "services/formats/io/riff.h"
#include "tests/scratch_file.h"
#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMillisecond = 1'000'000;

TEST(WavTest, EveryTypeComesBackAsItWas) {
  for (const char* datatype : {"ru8", "cu8", "ri16_le", "ci16_le", "ri32_le", "ci32_le", "rf32_le",
                               "cf32_le", "cf64_le"}) {
    Feed feed{.samples = Samples(2 * kBlockBytes + 48)};
    Recording recording = RecordingOf(feed.samples, datatype);
    recording.annotations = {{.label = "signal", .comment = "gain=3 frequency=433920000"}};
    const std::string path = ScratchPath(std::string(datatype) + ".wav");
    const auto exported = Export(*SubjectOf(recording, {}), RequestFor("wav", path, feed));
    ASSERT_TRUE(exported.ok()) << exported.status();
    const auto reader = OpenWav(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const Content& content = (*reader)->content();
    EXPECT_EQ(content.datatype, datatype);
    EXPECT_EQ(content.sample_rate, 1e6);
    EXPECT_EQ(content.start_ns, recording.start_time_ns);
    EXPECT_THAT(content.annotations,
                ElementsAre(Annotation{.label = "signal", .comment = "frequency=433920000"}));
    EXPECT_EQ(*ReadAll(**reader), feed.samples);
  }
}

// Its reader here counts a sample's bytes itself; others go by what the head says.
TEST(WavTest, TheHeadSaysWhatASampleIs) {
  struct Case {
    const char* datatype;
    uint64_t format, channels, bits;
  };
  for (const Case& one : {Case{"ru8", 1, 1, 8}, Case{"cu8", 1, 2, 8}, Case{"ci16_le", 1, 2, 16},
                          Case{"rf32_le", 3, 1, 32}, Case{"cf64_le", 3, 2, 64}}) {
    SCOPED_TRACE(one.datatype);
    Feed feed{.samples = Samples(kBlockBytes)};
    const Recording recording = RecordingOf(feed.samples, one.datatype);
    const std::string path = ScratchPath("head.wav");
    const auto exported = Export(*SubjectOf(recording, {}), RequestFor("wav", path, feed));
    ASSERT_TRUE(exported.ok()) << exported.status();
    const std::string file = ReadFile(path);
    std::filesystem::remove(path);
    EXPECT_EQ(file.substr(8, 8), "WAVEfmt ");
    const uint64_t sample_bytes = one.channels * one.bits / 8;
    EXPECT_EQ(NumberAt(file, 20, 2), one.format);
    EXPECT_EQ(NumberAt(file, 22, 2), one.channels);
    EXPECT_EQ(NumberAt(file, 24, 4), 1'000'000u);
    EXPECT_EQ(NumberAt(file, 28, 4), 1'000'000 * sample_bytes);
    EXPECT_EQ(NumberAt(file, 32, 2), sample_bytes);
    EXPECT_EQ(NumberAt(file, 34, 2), one.bits);
  }
}

TEST(WavTest, WhatItHasNotIsRefused) {
  Recording recording = RecordingOf(Samples(kBlockBytes), "ci16_be");
  const std::pair<const char*, const char*> kCases[] = {{"ci16_be", "ci16_le"},
                                                        {"ri8", "ru8"},
                                                        {"cu16_le", "ci16_le"},
                                                        {"cf32_be", "cf32_le"},
                                                        {"cu32_le", "ci32_le"}};
  for (const auto& [datatype, to] : kCases) {
    recording.datatype = datatype;
    const absl::Status refused = CreateWavWriter(*SubjectOf(recording, {}), {}).status();
    EXPECT_EQ(ReasonIn(refused), "DATATYPE_INVALID");
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr(absl::StrCat("--transform convert:from=", datatype, ",to=", to, " ")));
    recording.datatype = to;
    EXPECT_TRUE(CreateWavWriter(*SubjectOf(recording, {}), {}).ok()) << to;
  }
  recording.datatype = "cu8";
  for (const double rate : {0.0, 0.5, 1.5, 5e9}) {
    recording.sample_rate = rate;
    EXPECT_EQ(ReasonIn(CreateWavWriter(*SubjectOf(recording, {}), {}).status()),
              "ARGUMENT_INVALID");
  }
}

// Beyond 4 GiB it is RF64; the samples themselves are a hole here.
TEST(WavTest, ALargeOneHasSizesOf64Bits) {
  Recording recording = RecordingOf(Samples(kBlockBytes), "ci16_le");
  recording.blocks = (uint64_t{5} << 30) / kBlockBytes;
  recording.bytes = recording.blocks * kBlockBytes;
  Feed feed;
  for (uint64_t i = 0; i < recording.blocks; ++i) feed.missing.insert(i);
  feed.samples.resize(0);
  const auto writer = CreateWavWriter(*SubjectOf(recording, {}), {});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::string path = ScratchPath("large.wav");
  WriteFile(path, "");
  dataplane::Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  Output out(path, fd.get(), 0);
  ASSERT_TRUE((*writer)->Begin(out).ok());
  ASSERT_TRUE((*writer)->Write({.bytes = recording.bytes}, out).ok());
  ASSERT_TRUE((*writer)->Finish({}, out).ok());
  ASSERT_TRUE(out.Sync().ok());
  const auto reader = OpenWav(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->content().bytes, recording.bytes);
  std::filesystem::remove(path);
}

// One before the samples is refused, one within them leaves those that are whole.
TEST(WavTest, EachCutIsNamed) {
  Feed feed{.samples = Samples(64)};
  const std::string path = ScratchPath("a.wav");
  ASSERT_TRUE(
      Export(*SubjectOf(RecordingOf(feed.samples, "cf32_le"), {}), RequestFor("wav", path, feed))
          .ok());
  const std::string file = ReadFile(path);
  const size_t samples_at = file.size() - feed.samples.size();
  const std::string cut = ScratchPath("cut.wav");
  ExpectEachCutIsNamed(file, samples_at, "wav", cut);
  for (size_t bytes = 0; bytes < feed.samples.size(); ++bytes) {
    WriteFile(cut, file.substr(0, samples_at + bytes));
    const auto reader = OpenWav(cut);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(*ReadAll(**reader), feed.samples.substr(0, bytes / 8 * 8));
    EXPECT_FALSE((*reader)->content().notes.empty()) << bytes;
  }
}

TEST(WavTest, TimesAreOfTheCalendar) {
  for (const int64_t ns : {int64_t{0}, 1'709'208'000'123 * kMillisecond, kMillisecond * 999}) {
    std::string text;
    AppendSystemTime(&text, ns);
    EXPECT_EQ(text.size(), 16u);
    EXPECT_EQ(SystemTimeAt(text, 0), ns);
  }
  std::string unknown;
  AppendSystemTime(&unknown, std::nullopt);
  EXPECT_EQ(unknown, std::string(16, '\0'));
  EXPECT_EQ(SystemTimeAt(unknown, 0), std::nullopt);
  EXPECT_EQ(SystemTimeAt(std::string(16, '\xff'), 0), std::nullopt);
}

}  // namespace
}  // namespace tapedeck::services::formats
