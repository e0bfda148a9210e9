#include "gpu_worker/stages/stage_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tapedeck::gpu_worker::stages {
namespace {

using services::Annotation;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Which = StageReport::Which;

TEST(StageReportTest, WakesForWhatIsThereAndWhatComes) {
  StageReport report([] { return services::Notes{{.text = "a note"}}; });
  const Annotation first{.sample_start = 1, .sample_count = 2, .label = "lost"};
  const Annotation second{.sample_start = 5, .sample_count = 1, .label = "lost"};
  report.Annotate(first);
  int woken = 0;
  report.SetWaker([&] { ++woken; });
  EXPECT_EQ(woken, 1);
  report.Annotate(second);
  EXPECT_EQ(woken, 2);
  EXPECT_THAT(report.Take(Which::kSoFar), ElementsAre(first, second));
  EXPECT_THAT(report.Take(Which::kAll), IsEmpty());
  EXPECT_THAT(report.Notes(), ElementsAre(services::Note{.text = "a note"}));
}

TEST(StageReportTest, OfMoreThanARecordingTakesManyBecomeOne) {
  StageReport report([] { return services::Notes(); });
  const uint64_t all = StageReport::kMostAlone + StageReport::kTogether + 3;
  for (uint64_t i = 0; i < all; ++i) {
    report.Annotate({.sample_start = 10 * i, .sample_count = 2, .label = "lost"});
  }
  const auto so_far = report.Take(Which::kSoFar);
  ASSERT_THAT(so_far, SizeIs(StageReport::kMostAlone + 1));
  const Annotation& many = so_far.back();
  EXPECT_EQ(many.sample_start, 10 * StageReport::kMostAlone);
  EXPECT_EQ(many.sample_count, 10 * (StageReport::kTogether - 1) + 2);
  EXPECT_EQ(many.comment, "8192 samples in 4096 places of this span");
  const auto rest = report.Take(Which::kAll);
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest[0].comment, "6 samples in 3 places of this span");
  EXPECT_EQ(rest[0].sample_start + rest[0].sample_count, 10 * (all - 1) + 2);
}

TEST(StageReportTest, PlacesAreCountedInSamplesOfTheRecording) {
  StageReport report([] { return services::Notes(); });
  report.CountIn(4);
  report.Mark({.sample_start = 9, .label = "signal"});
  report.Annotate({.sample_start = 10, .sample_count = 3, .label = "lost"});
  report.Annotate({.sample_start = 12, .sample_count = 4, .label = "lost"});
  EXPECT_THAT(report.Take(Which::kAll),
              ElementsAre(Annotation{.sample_start = 2, .label = "signal"},
                          Annotation{.sample_start = 2, .sample_count = 2, .label = "lost"},
                          Annotation{.sample_start = 3, .sample_count = 1, .label = "lost"}));
}

TEST(StageReportTest, WhatIsToldTogetherIsCountedSoAsWell) {
  StageReport report([] { return services::Notes(); });
  report.CountIn(4);
  for (uint64_t i = 0; i < StageReport::kMostAlone + 2; ++i) {
    report.Annotate({.sample_start = 100 * i, .sample_count = 8, .label = "lost"});
  }
  EXPECT_EQ(report.Take(Which::kAll).back().comment, "4 samples in 2 places of this span");
}

// Of a second recording, whose samples are made of several of the first.
TEST(StageReportTest, ASecondTakerGetsAllWithACountOfItsOwn) {
  StageReport report([] { return services::Notes{{.text = "a note"}}; });
  report.Mark({.sample_start = 40, .label = "as it was made"});
  const auto second = report.Second();
  second->CountIn(4);
  report.Annotate({.sample_start = 80, .sample_count = 8, .label = "lost"});
  EXPECT_THAT(report.Take(Which::kAll), SizeIs(2));
  const auto taken = second->Take(Which::kAll);
  ASSERT_THAT(taken, SizeIs(2));
  EXPECT_EQ(taken[0].sample_start, 10u);
  EXPECT_EQ(taken[1].sample_start, 20u);
  EXPECT_EQ(taken[1].sample_count, 2u);
  EXPECT_TRUE(second->Notes().empty());
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages
