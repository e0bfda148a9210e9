// What a job has to say of its samples lies in the segments that have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/scratch_file.h"

namespace tapedeck::gpu_worker {
namespace {

constexpr uint64_t kSegmentSamples = 16 * kTestBlockBytes;  // of ru8, in 16 blocks

class SegmentJobTest : public JobFixture {
 protected:
  void SetUp() override {
    StartNode(KindNamed("inproc"));
    UseDevice(pipeline::ChooseDevice("host").value());
  }

  // A file of so many segments, with an annotation in the middle of each.
  services::Job Record(uint64_t segments) {
    const std::string meta = ScratchPath("marked.sigmf-meta");
    std::vector<std::string> marks;
    for (uint64_t i = 0; i < segments; ++i) {
      const uint64_t sample = i * kSegmentSamples + kSegmentSamples / 2;
      marks.push_back(absl::StrCat(
          R"({"core:label": "m", "core:sample_count": 1, "core:sample_start": )", sample, "}"));
    }
    WriteFile(meta,
              absl::StrCat(R"({"global": {"core:datatype": "ru8", "core:version": "1.0.0"},)",
                           R"("captures": [], "annotations": [)", absl::StrJoin(marks, ","), "]}"));
    WriteFile(ScratchPath("marked.sigmf-data"), std::string(segments * kSegmentSamples, 's'));
    return Finish(job::Job::StartRecord(
                      "jobs/1", {.transfer = {.target = kSegmented}, .source = FileSource(meta)},
                      Environment(), Nodes()))
        .value();
  }
  void MakeChannel(services::Lun lun) {
    lun.name = "luns/s";
    lun.store = "memory";
    ASSERT_TRUE(node_->luns().CreateLun(lun, "").ok());
    const auto made = node_->channels().CreateChannel({.name = kSegmented,
                                                       .block_bytes = kTestBlockBytes,
                                                       .datatype = "ru8",
                                                       .segment_bytes = 16 * kTestBlockBytes},
                                                      "");
    ASSERT_TRUE(made.ok()) << made.status();
  }
  // How many annotations each segment has, by its number; each is in its middle.
  std::map<uint64_t, size_t> Marks() {
    std::map<uint64_t, size_t> marks;
    const auto listed = *node_->recordings().ListRecordings(kSegmented);
    for (const auto& segment : listed) {
      const auto found = *node_->recordings().GetRecording(segment.name);
      marks[found.segment] = found.annotations.size();
      for (const auto& one : found.annotations) {
        EXPECT_EQ(one.sample_start, found.segment * kSegmentSamples + kSegmentSamples / 2);
      }
    }
    return marks;
  }

  static constexpr char kSegmented[] = "luns/s/channels/c";
};

TEST_F(SegmentJobTest, AnAnnotationIsInTheSegmentWithItsSample) {
  MakeChannel({.capacity_bytes = 64 << 20});
  const services::Job job = Record(4);
  EXPECT_TRUE(job.error.ok()) << job.error;
  const std::map<uint64_t, size_t> each{{0, 1}, {1, 1}, {2, 1}, {3, 1}};
  EXPECT_EQ(Marks(), each);
}

TEST_F(SegmentJobTest, WhatTheRingHasDeletedNeedsNoAnnotation) {
  MakeChannel({.capacity_bytes = 8 << 20, .full_policy = services::FullPolicy::kRing});
  constexpr uint64_t kSegments = 40;
  const services::Job job = Record(kSegments);
  EXPECT_TRUE(job.error.ok()) << job.error;
  const auto marks = Marks();
  ASSERT_FALSE(marks.empty());
  EXPECT_GT(marks.begin()->first, 0u) << "the ring has deleted the first one";
  for (const auto& [number, count] : marks) EXPECT_EQ(count, 1u) << number;
}

}  // namespace
}  // namespace tapedeck::gpu_worker
