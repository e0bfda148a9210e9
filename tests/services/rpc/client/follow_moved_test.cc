#include "services/rpc/client/follow_moved.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::client {
namespace {

using testing::HasSubstr;

std::string Name(int number) { return absl::StrCat("luns/l", number, "/channels/c/recordings/r"); }

// A node that knows where recordings went, and has those that went nowhere.
class FollowMovedTest : public testing::Test {
 protected:
  absl::StatusOr<FollowedRecording> Follow(const std::string& name) {
    return FollowMoved(
        [this](const std::string& at) -> absl::StatusOr<Recording> {
          ++asked_;
          const auto moved = moved_.find(at);
          if (moved == moved_.end()) return Recording{.name = at};
          if (moved->second.empty()) return RecordingNotFound(at, "no such recording");
          return RecordingMoved(at, moved->second);
        },
        name);
  }
  std::string Refusal(const std::string& name) {
    const absl::Status status = Follow(name).status();
    const auto reason = ReasonOf(status);
    EXPECT_EQ(reason.has_value() ? reason->reason : "", "RECORDING_NOT_FOUND") << status;
    return std::string(status.message());
  }
  void MoveOn(int times) {
    for (int i = 0; i < times; ++i) moved_[Name(i)] = Name(i + 1);
  }

  std::map<std::string, std::string> moved_;
  int asked_ = 0;
};

TEST_F(FollowMovedTest, WhatHasNotMovedIsAskedForOnce) {
  EXPECT_EQ(Follow(Name(0))->name, Name(0));
  EXPECT_EQ(asked_, 1);
}

TEST_F(FollowMovedTest, GoesEightPlacesOnAndNoMore) {
  MoveOn(8);
  EXPECT_EQ(Follow(Name(0))->name, Name(8));
  MoveOn(9);
  EXPECT_THAT(Refusal(Name(0)), HasSubstr("more than 8 names"));
}

TEST_F(FollowMovedTest, ACircleHasNoEnd) {
  moved_ = {{Name(0), Name(1)}, {Name(1), Name(2)}, {Name(2), Name(1)}};
  EXPECT_THAT(Refusal(Name(0)), HasSubstr(absl::StrCat("back to ", Name(1))));
  EXPECT_EQ(asked_, 3);
}

TEST_F(FollowMovedTest, NamesThatAreNoneAreNotAskedFor) {
  moved_[Name(0)] = "../../etc";
  EXPECT_THAT(Refusal(Name(0)), HasSubstr("not a recording's name"));
  EXPECT_EQ(asked_, 1);
}

TEST_F(FollowMovedTest, WhatIsGoneThereIsGone) {
  MoveOn(1);
  moved_[Name(1)] = "";
  EXPECT_THAT(Refusal(Name(0)), HasSubstr("no such recording"));
}

}  // namespace
}  // namespace tapedeck::services::client
