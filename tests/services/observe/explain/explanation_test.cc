#include "services/observe/explain/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "services/session/transfer/session_stage_times.h"

namespace tapedeck::services::explain {
namespace {

using dataplane::Direction;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kMs = 1'000'000;

// Of ten seconds, in milliseconds each; what is left both ends were idle.
StageTimes Ten(const StageTimes& in_ms) {
  StageTimes times;
  int64_t sending = 10'000, receiving = 10'000;
  for (const StageTime& one : in_ms) {
    if (one.what.starts_with("send.")) sending -= one.time_ns;
    if (one.what.starts_with("receive.")) receiving -= one.time_ns;
    times.push_back({one.what, one.rail, one.time_ns * kMs});
  }
  times.push_back({"send.idle", "", sending * kMs});
  times.push_back({"receive.idle", "", receiving * kMs});
  return times;
}

std::string LimitOf(const StageTimes& in_ms, Direction direction = Direction::kRecord) {
  return Explain(Ten(in_ms), direction).limited_by;
}

TEST(Explanation, ASourceThatIsBusyAllTheTime) {
  EXPECT_EQ(LimitOf({{"work.source", "", 9'800}, {"work.crc", "", 150}, {"send.wire", "", 200}}),
            "source");
}

TEST(Explanation, OfAThreadTheStageThatTakesMost) {
  const StageTimes times = {{"work.source", "", 2'500},
                            {"work.gpu", "", 5'000},
                            {"work.crc", "", 2'300},
                            {"receive.sink", "", 6'000}};
  const Explanation found = Explain(Ten(times), Direction::kRecord);
  EXPECT_EQ(found.limited_by, "gpu");
  EXPECT_EQ(found.stages[0].thread, "pipeline thread");
  EXPECT_NEAR(found.stages[0].thread_share, 0.98, 0.001);
  EXPECT_NEAR(found.stages[0].seconds, 5, 0.001);
  EXPECT_EQ(found.stages[1].name, "store");
}

TEST(Explanation, ADeviceBesideTheThread) {
  EXPECT_EQ(
      LimitOf({{"work.source", "", 500}, {"device.gpu", "", 9'000}, {"device.copy", "", 800}}),
      "gpu");
  EXPECT_EQ(LimitOf({{"device.gpu", "", 100}, {"device.copy", "", 9'800}}), "copy");
}

TEST(Explanation, WhoeverIsFullBecauseOfTheNextIsNotToBlame) {
  // A store that is full fills the rails, too.
  EXPECT_EQ(LimitOf({{"send.wire", "", 9'900}, {"receive.sink", "", 9'700}}), "store");
  // So does a thread that has no time.
  EXPECT_EQ(LimitOf({{"send.wire", "", 9'900}, {"receive.crc", "", 9'000}}), "crc");
  EXPECT_EQ(LimitOf({{"send.wire", "", 9'900}, {"receive.crc", "", 3'000}}), "wire");
}

TEST(Explanation, OfTwoThatAreAboutAsBusyTheLater) {
  EXPECT_EQ(LimitOf({{"work.source", "", 9'000}, {"receive.sink", "", 8'500}}), "store");
  EXPECT_EQ(LimitOf({{"work.source", "", 9'000}, {"receive.sink", "", 7'000}}), "source");
}

TEST(Explanation, OneRailOrAll) {
  const StageTimes one = {{"send.rail", "r0", 500}, {"send.rail", "r1", 8'000}};
  EXPECT_EQ(LimitOf(one), "rail r1");
  EXPECT_EQ(Explain(Ten(one), Direction::kRecord).rails[0].name, "r1");
  EXPECT_EQ(LimitOf({{"send.rail", "r0", 4'000}, {"send.rail", "r1", 5'000}}), "wire");
  EXPECT_EQ(LimitOf({{"send.rail", "r1", 1'000}, {"send.wire", "", 8'000}}), "wire");
}

TEST(Explanation, FlushesBoundOnlyWhatWaitsForThem) {
  EXPECT_EQ(LimitOf({{"store.flush", "", 9'900},
                     {"send.acknowledge", "", 3'600},
                     {"work.source", "", 6'400}}),
            "flush");
  // A slow source under long flushes, with nobody waiting.
  EXPECT_EQ(LimitOf({{"store.flush", "", 6'700}, {"work.source", "", 5'000}}), "source");
}

TEST(Explanation, RingCreditsAndAcknowledgements) {
  EXPECT_EQ(LimitOf({{"send.ring", "", 7'500}, {"send.acknowledge", "", 2'400}}), "ring");
  EXPECT_EQ(LimitOf({{"send.credits", "", 9'000}}), "credits");
  EXPECT_EQ(LimitOf({{"send.acknowledge", "", 9'000}}), "acknowledge");
}

TEST(Explanation, OfAPlayback) {
  constexpr Direction kPlayback = Direction::kPlayback;
  EXPECT_EQ(LimitOf({{"send.thread", "", 100}}, kPlayback), "store");
  EXPECT_EQ(LimitOf({{"send.wire", "", 9'900},
                     {"receive.sink", "", 9'800},
                     {"work.sink", "", 9'700},
                     {"work.gpu", "", 100}},
                    kPlayback),
            "sink");
  EXPECT_EQ(LimitOf({{"send.acknowledge", "", 9'900}, {"work.sink", "", 9'700}}, kPlayback),
            "sink");
  EXPECT_EQ(LimitOf({{"send.wire", "", 9'900}, {"work.sink", "", 900}}, kPlayback), "wire");
}

TEST(Explanation, OfNothingThereIsNone) {
  EXPECT_THAT(Explain({}, Direction::kRecord).stages, IsEmpty());
  EXPECT_THAT(Explain(Ten({}), Direction::kRecord).stages, IsEmpty());
}

TEST(Explanation, ARecordingThatKeptUpIsLimitedByNothing) {
  const StageTimes times = {
      {"send.thread", "", 10}, {"store.flush", "", 1'200}, {"work.crc", "", 300}};
  const Explanation found = Explain(Ten(times), Direction::kRecord);
  EXPECT_EQ(found.limited_by, kNothing);
  EXPECT_THAT(TextOf(found), HasSubstr("limited by nothing: it kept up with its source"));
  // Two that take turns leave the sending end no time.
  EXPECT_EQ(LimitOf({{"send.wire", "", 4'500}, {"send.acknowledge", "", 4'500}}), "acknowledge");
}

TEST(Explanation, AShortTransferTellsNothing) {
  const StageTimes times = {
      {"send.thread", "", 2 * kMs}, {"send.idle", "", 40 * kMs}, {"work.source", "", 41 * kMs}};
  const Explanation found = Explain(times, Direction::kRecord);
  EXPECT_EQ(found.limited_by, kTooShort);
  EXPECT_THAT(TextOf(found), HasSubstr("too short to tell: it took 0.042 s"));
}

// A flush counts when it ends, also in a segment in whose time it did not begin.
TEST(Explanation, NoStageIsBusyForMoreThanAllTheTime) {
  const Explanation found = Explain(Ten({{"store.flush", "", 14'600},
                                         {"send.acknowledge", "", 9'000},
                                         {"work.source", "", 9'000},
                                         {"work.crc", "", 9'000}}),
                                    Direction::kRecord);
  EXPECT_EQ(found.limited_by, "flush");
  for (const StageShare& stage : found.stages) {
    EXPECT_LE(stage.share, 1) << stage.name;
    EXPECT_LE(stage.thread_share, 1) << stage.name;
    EXPECT_LE(stage.seconds, found.elapsed_s) << stage.name;
  }
}

TEST(Explanation, EachStageIsThereOnce) {
  const Explanation found = Explain(Ten({{"work.crc", "", 4'000},
                                         {"receive.crc", "", 5'000},
                                         {"send.thread", "", 100},
                                         {"receive.thread", "", 200}}),
                                    Direction::kRecord);
  for (const StageShare& stage : found.stages) {
    EXPECT_EQ(std::ranges::count(found.stages, stage.name, &StageShare::name), 1) << stage.name;
    EXPECT_NE(AdviceFor(stage.name, Direction::kRecord), "") << stage.name;
  }
}

TEST(Explanation, PeopleReadTheFirstTheSecondAndWhatHelps) {
  const std::string text = TextOf(
      Explain(Ten({{"send.rail", "r1", 8'000}, {"work.source", "", 2'000}}), Direction::kRecord));
  EXPECT_THAT(text, HasSubstr("limited by rail r1: busy 80 % of 10.00 s"));
  EXPECT_THAT(text, HasSubstr("then source: 20 %"));
  EXPECT_THAT(text, HasSubstr("what helps: rail r1 is slower than the others"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

// Of a segment that ends and of the next one.
TEST(StageTimes, FlushesAtOneTimeCountOnce) {
  const auto stage_times = std::make_shared<session::SessionStageTimes>();
  const auto flushing = [stored = session::SessionStageTimes::Stored(stage_times)] {
    return model::TimeOf(stored(), "store.flush");
  };
  stage_times->FlushBegan(100);
  stage_times->FlushBegan(105);
  EXPECT_EQ(flushing(), 5);
  stage_times->FlushEnded(110);
  stage_times->FlushEnded(112);
  EXPECT_EQ(flushing(), 12);
  stage_times->FlushBegan(200);
  stage_times->FlushEnded(203);
  EXPECT_EQ(flushing(), 15);
}

TEST(StageTimes, SumsAreBounded) {
  StageTimes sum;
  for (int i = 0; i < 1000; ++i) model::Add({{"send.rail", std::to_string(i), 1}}, sum);
  EXPECT_EQ(sum.size(), model::kMaxStageTimes);
  StageTimes known;
  model::AddKnown({{"send.rail", "a", 1}, {"send.rail", "b", 2}, {"made.up", "", 3}}, known);
  EXPECT_EQ(known, (StageTimes{{"send.rail", "", 3}}));
}

TEST(StageTimes, SinceLeavesOutWhatWasBefore) {
  const StageTimes before = {{"a", "", 5}, {"b", "r", 7}};
  const StageTimes now = {{"a", "", 9}, {"b", "r", 7}, {"c", "", 1}};
  EXPECT_EQ(model::Since(before, now), (StageTimes{{"a", "", 4}, {"c", "", 1}}));
  EXPECT_EQ(model::TimeOf(now, "b"), 7);
}

}  // namespace
}  // namespace tapedeck::services::explain
