// When a part counts as one that does not answer.
#include "services/session/parts/answering.h"

#include <gtest/gtest.h>

namespace tapedeck::services::parts {
namespace {

constexpr Sign kRuns{.due = true, .running = true, .rail_up = true};

// Two parts or more that are looked at: each shows what its sign says, one more each time where it
// is alive.
class AnsweringTest : public testing::Test {
 protected:
  // Of the first, after so many more looks.
  Answer Look(uint32_t looks = 1) {
    Answer last = Answer::kNormal;
    for (uint32_t i = 0; i < looks; ++i) {
      for (size_t part = 0; part < signs_.size(); ++part) {
        if (speaks_[part]) ++signs_[part].heard;
        if (works_[part]) ++signs_[part].acknowledged;
      }
      last = answering_.Look(signs_).front();
    }
    return last;
  }

  std::vector<Sign> signs_{kRuns, kRuns};
  std::vector<bool> speaks_{true, true};
  std::vector<bool> works_{false, true};
  Answering answering_{2};
};

TEST_F(AnsweringTest, OneOfWhichNothingIsHeardIsSilentAfterASecond) {
  EXPECT_EQ(Look(100), Answer::kNormal);
  speaks_[0] = false;
  EXPECT_EQ(Look(kSilentLooks - 1), Answer::kNormal);
  EXPECT_EQ(Look(), Answer::kSilent);
  speaks_[1] = works_[1] = false;
  EXPECT_EQ(Look(100), Answer::kSilent) << "it stays so whatever becomes of the others";
  works_[0] = true;
  EXPECT_EQ(Look(), Answer::kNormal) << "an acknowledgement is a sign of life";
}

TEST_F(AnsweringTest, WhereAllAreSilentItIsTheWorkersOwnTrouble) {
  speaks_ = {false, false};
  works_ = {false, false};
  EXPECT_EQ(Look(100), Answer::kNormal);
  speaks_[1] = true;
  EXPECT_EQ(Look(), Answer::kSilent);
}

// No look, no time: as where the worker was stopped, or its machine.
TEST_F(AnsweringTest, AWorkerThatStoodStillFindsNobodySilent) {
  EXPECT_EQ(Look(), Answer::kNormal);
  speaks_[0] = false;  // whose messages are read after the others'
  EXPECT_EQ(Look(2), Answer::kNormal);
}

TEST_F(AnsweringTest, OneWhoseRailsAreDownIsSilent) {
  signs_[0].rail_up = false;
  EXPECT_EQ(Look(kSilentLooks), Answer::kSilent);
  signs_[0].rail_up = true;
  EXPECT_EQ(Look(), Answer::kNormal);
}

TEST_F(AnsweringTest, OneThatIsOpenedHasThreeSeconds) {
  signs_[0].running = false;
  EXPECT_EQ(Look(kOpeningLooks - 1), Answer::kNormal);
  EXPECT_EQ(Look(), Answer::kSilent);
  signs_[0].running = true;
  EXPECT_EQ(Look(), Answer::kNormal);
}

TEST_F(AnsweringTest, OneThatIsLostIsNotWaitedFor) {
  speaks_[0] = false;
  EXPECT_EQ(Look(kSilentLooks), Answer::kSilent);
  signs_[0].due = false;
  EXPECT_EQ(Look(100), Answer::kNormal);
}

TEST_F(AnsweringTest, OneThatAnswersAndAcknowledgesNothingIsStuck) {
  EXPECT_EQ(Look(100), Answer::kNormal) << "it has nothing to acknowledge";
  signs_[0].owes = true;
  EXPECT_EQ(Look(kStuckLooks - 1), Answer::kNormal);
  EXPECT_EQ(Look(), Answer::kStuck);
  speaks_[0] = false;
  EXPECT_EQ(Look(kSilentLooks), Answer::kSilent);
  speaks_[0] = true;
  EXPECT_EQ(Look(), Answer::kStuck);
  works_[0] = true;
  EXPECT_EQ(Look(), Answer::kNormal);
}

TEST_F(AnsweringTest, OneThatIsAsSlowAsTheOthersIsNotStuck) {
  signs_[0].owes = true;
  works_[1] = false;
  EXPECT_EQ(Look(100), Answer::kNormal);
}

TEST_F(AnsweringTest, OneThatTheStreamWaitsForIsStuckSooner) {
  signs_[0].owes = signs_[0].holds_up = true;
  EXPECT_EQ(Look(kHoldingUpLooks - 1), Answer::kNormal);
  EXPECT_EQ(Look(), Answer::kStuck);
  signs_[0].holds_up = false;  // the others have what it has
  EXPECT_EQ(Look(100), Answer::kStuck);
  signs_[0].owes = false;
  EXPECT_EQ(Look(), Answer::kNormal);
}

}  // namespace
}  // namespace tapedeck::services::parts
