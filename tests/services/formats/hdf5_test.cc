// HDF5 files go out and come in again. Without the library both are refused.
#include "services/formats/hdf5/hdf5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {
namespace {

using testing::ElementsAre;

class Hdf5Test : public testing::Test {
 protected:
  // The file; skips where there is no library.
  void Write(const std::string& path, const Recording& recording, Feed feed) {
    const auto exported = Export(*SubjectOf(recording, {}), RequestFor("hdf5", path, feed));
    if (absl::IsUnimplemented(exported.status())) GTEST_SKIP() << "skipped: built without HDF5";
    ASSERT_TRUE(exported.ok()) << exported.status();
  }
};

TEST_F(Hdf5Test, EveryTypeComesBackAsItWas) {
  for (const char* datatype : {"ru8", "cu8", "ci8", "ri16_le", "ci16_be", "cu16_le", "ri32_be",
                               "cu32_le", "rf32_le", "cf32_be", "cf32_le", "cf64_le"}) {
    const std::string samples = Samples(2 * kBlockBytes + 48);
    Recording recording = RecordingOf(samples, datatype);
    recording.annotations = {{.label = "signal", .comment = "gain=3 frequency=433920000"}};
    const std::string path = ScratchPath(std::string(datatype) + ".h5");
    Write(path, recording, {.samples = samples});
    if (IsSkipped() || HasFatalFailure()) return;
    const auto reader = OpenHdf5(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const Content& content = (*reader)->content();
    EXPECT_EQ(content.datatype, datatype);
    EXPECT_EQ(content.sample_rate, 1e6);
    EXPECT_EQ(content.start_ns, recording.start_time_ns);
    EXPECT_THAT(content.annotations,
                ElementsAre(Annotation{.label = "signal", .comment = "frequency=433920000"}));
    EXPECT_EQ(*ReadAll(**reader), samples);
  }
}

TEST_F(Hdf5Test, WhatIsMissingIsAGap) {
  std::string samples = Samples(4 * kBlockBytes);
  const std::string path = ScratchPath("gap.h5");
  Write(path, RecordingOf(samples, "cu8", 2), {.samples = samples, .missing = {0, 2}});
  if (IsSkipped() || HasFatalFailure()) return;
  const auto reader = OpenHdf5(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  constexpr uint64_t kBlockSamples = kBlockBytes / 2;
  EXPECT_THAT((*reader)->content().gaps,
              ElementsAre(SampleRange{.count = kBlockSamples},
                          SampleRange{.first = 2 * kBlockSamples, .count = kBlockSamples}));
  samples.replace(0, kBlockBytes, kBlockBytes, '\0');
  samples.replace(2 * kBlockBytes, kBlockBytes, kBlockBytes, '\0');
  EXPECT_EQ(*ReadAll(**reader), samples);
}

TEST_F(Hdf5Test, AFrequencyThatIsUnknownIsNoAttribute) {
  const std::string samples = Samples(kBlockBytes);
  Recording recording = RecordingOf(samples, "cu8");
  const std::string path = ScratchPath("unknown.h5");
  Write(path, recording, {.samples = samples});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(ReadFile(path).find("frequency"), std::string::npos);
  recording.annotations = {{.label = "signal", .comment = "frequency=0"}};
  const std::string zero = ScratchPath("zero.h5");
  Write(zero, recording, {.samples = samples});
  EXPECT_NE(ReadFile(zero).find("frequency"), std::string::npos) << "0 Hz is one, too";
}

TEST_F(Hdf5Test, EachCutIsNamed) {
  const std::string samples = Samples(64);
  const std::string path = ScratchPath("whole.h5");
  Write(path, RecordingOf(samples, "cf32_le"), {.samples = samples});
  if (IsSkipped() || HasFatalFailure()) return;
  const std::string file = ReadFile(path);
  ExpectEachCutIsNamed(file, file.size(), "hdf5", ScratchPath("cut.h5"));
}

}  // namespace
}  // namespace tapedeck::services::formats
