// What a job has to say of its samples lies in the captures that have them, where a channel keeps
// captures alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/scratch_file.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kSecond = kTestBlockBytes / 8;  // of cf32_le: samples of a block

class CaptureJobTest : public JobFixture {
 protected:
  void SetUp() override {
    StartNode(KindNamed("inproc"));
    UseDevice(pipeline::ChooseDevice("host").value());
    // 3 s before, 2 s after.
    const auto made = node_->channels().CreateChannel({.name = kTriggered,
                                                       .block_bytes = kTestBlockBytes,
                                                       .datatype = "cf32_le",
                                                       .sample_rate = kSecond,
                                                       .commit = dataplane::CommitLevel::kReceived,
                                                       .pre_trigger_ns = 3'000'000'000,
                                                       .post_trigger_ns = 2'000'000'000},
                                                      "");
    ASSERT_TRUE(made.ok()) << made.status();
  }

  // 60 blocks of silence with a burst at the begin of each of these blocks, and what is said of
  // them.
  services::Job Record(const std::vector<uint64_t>& bursts, const std::string& said) {
    constexpr uint64_t kBlocks = 60;
    std::vector<std::complex<float>> samples(kBlocks * kSecond);
    for (const uint64_t burst : bursts) {
      std::fill_n(samples.begin() + static_cast<std::ptrdiff_t>(burst * kSecond), 1024, 1.0f);
    }
    std::string bytes(samples.size() * sizeof(samples[0]), '\0');
    std::memcpy(bytes.data(), samples.data(), bytes.size());
    WriteFile(ScratchPath("bursts.sigmf-data"), bytes);
    const std::string meta = ScratchPath("bursts.sigmf-meta");
    WriteFile(meta, absl::StrCat(R"({"global": {"core:datatype": "cf32_le",)",
                                 R"("core:version": "1.0.0"},)", said, "}"));
    const services::StageSpec detect{
        "detect", {{"points", uint64_t{512}}, {"low", 0.0}, {"high", 0.0}, {"threshold", -10.0}}};
    return Finish(job::Job::StartRecord("jobs/1",
                                        {.transfer = {.target = kTriggered, .transforms = {detect}},
                                         .source = FileSource(meta)},
                                        Environment(), Nodes()))
        .value();
  }

  // Those of a capture, but for the trigger's: "label sample count comment", in blocks.
  std::vector<std::string> MarksOf(const std::string& capture) {
    std::vector<std::string> marks;
    const auto found = node_->recordings().GetRecording(capture);
    EXPECT_TRUE(found.ok()) << found.status();
    for (const auto& one : found->annotations) {
      if (one.label == "trigger") continue;
      EXPECT_EQ(one.sample_start % kSecond, 0u);
      marks.push_back(absl::StrCat(one.label, " ", one.sample_start / kSecond, " ",
                                   one.sample_count / kSecond, " ", one.comment));
    }
    std::ranges::sort(marks);
    return marks;
  }

  static std::string Capture(uint64_t block, double frequency) {
    return absl::StrCat(R"({"core:sample_start": )", block * kSecond, R"(, "core:frequency": )",
                        frequency, "}");
  }
  static std::string Span(uint64_t block, uint64_t blocks) {
    return absl::StrCat(R"({"core:label": "m", "core:sample_start": )", block * kSecond,
                        R"(, "core:sample_count": )", blocks * kSecond, "}");
  }

  static constexpr char kTriggered[] = "luns/l/channels/t";
};

TEST_F(CaptureJobTest, AMarkIsInTheCapturesWithItsSamples) {
  const std::string captures = absl::StrCat(Capture(0, 1e6), ",", Capture(19, 2e6), ",",
                                            Capture(30, 3e6), ",", Capture(50, 4e6));
  const std::string spans = absl::StrCat(Span(18, 1), ",", Span(15, 3), ",", Span(55, 1));
  const services::Job job = Record(
      {20, 40}, absl::StrCat(R"("captures": [)", captures, R"(], "annotations": [)", spans, "]"));
  EXPECT_TRUE(job.error.ok()) << job.error;
  ASSERT_EQ(job.captures.size(), 2u);
  // Blocks 16 or 17 to 21 or 22, by where the detector places the burst.
  const auto first = MarksOf(job.captures[0]);
  ASSERT_EQ(first.size(), 4u) << testing::PrintToString(first);
  EXPECT_THAT(first, Contains("m 18 1 "));
  EXPECT_THAT(first, Contains(HasSubstr(", of samples ")).Times(0));
  EXPECT_THAT(first, Contains("signal 19 0 frequency=2000000"));
  EXPECT_THAT(MarksOf(job.captures[1]), ElementsAre("signal 37 0 frequency=3000000"));
  EXPECT_THAT(job.notes, Contains(services::Noted("ANNOTATIONS_LEFT_OUT|annotations=2")));
}

TEST_F(CaptureJobTest, WithoutACaptureItSucceeds) {
  const services::Job job = Record({}, absl::StrCat(R"("captures": [)", Capture(0, 1e6),
                                                    R"(], "annotations": [)", Span(5, 2), "]"));
  EXPECT_TRUE(job.error.ok()) << job.error;
  EXPECT_TRUE(job.captures.empty());
  EXPECT_THAT(job.notes, Contains(services::Noted("ANNOTATIONS_LEFT_OUT|annotations=2")));
}

}  // namespace
}  // namespace tapedeck::gpu_worker
