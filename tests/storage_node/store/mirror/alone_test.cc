// Which copy is believed when only one is there, and when each was used without the other.
#include "tests/storage_node/store/mirror/mirror_fixture.h"

namespace tapedeck::storage_node {
namespace {

using services::LunState;
using testing::HasSubstr;

class AloneTest : public MirrorTest {
 protected:
  // As if the machine had been off meanwhile.
  template <typename Change>
  void Stopped(Change change) {
    deck_.Stop();
    change();
    deck_.Start();
  }
};

TEST_F(AloneTest, OneThatKnowsItIsBehindIsNotUsed) {
  MoveAway(1);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
  const std::string recording = deck_.RecordAndSeal(20);
  PutBack(1);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  // It says so itself at the next look.
  EXPECT_TRUE(deck_.executor().RunUntil(
      [&] { return std::filesystem::exists(Member(1) + "/.tapedeck/behind.json"); }));
  Stopped([&] { MoveAway(0); });
  EXPECT_TRUE(Becomes(LunState::kOffline, "its copy is behind since"));
  PutBack(0);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  ExpectPlays(recording, 20);
  ExpectScrubMends();
}

TEST_F(AloneTest, EachUsedWithoutTheOtherIsRefusedUntilOneIsTakenAway) {
  deck_.RecordAndSeal(10);
  Stopped([&] { MoveAway(1); });
  const std::string here = deck_.RecordAndSeal(20);
  Stopped([&] {
    MoveAway(0);
    PutBack(1);
  });
  deck_.RecordAndSeal(30);
  Stopped([&] { PutBack(0); });
  EXPECT_TRUE(Becomes(LunState::kOffline, "each used without the other"));
  EXPECT_EQ(Reason(deck_.Record().status()), "LUN_OFFLINE");
  MoveAway(1);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is behind since"));
  ExpectPlays(here, 20);
}

TEST_F(AloneTest, WithoutBothItIsOffline) {
  const std::string recording = deck_.RecordAndSeal(20);
  MoveAway(0);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
  MoveAway(1);
  EXPECT_TRUE(Becomes(LunState::kOffline));
  PutBack(1);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "is missing"));
  ExpectPlays(recording, 20);
  PutBack(0);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  ExpectScrubMends();
  ExpectPlays(recording, 20);
}

TEST_F(AloneTest, WhatSaysThatACopyIsBehindMustBeSound) {
  deck_.RecordAndSeal(10);
  for (const char* damaged : {"{}", ""}) {
    Stopped([&] { std::ofstream(Member(0) + "/.tapedeck/behind.json") << damaged; });
    EXPECT_TRUE(Becomes(LunState::kOffline, "cannot read there which copy is behind")) << damaged;
  }
  std::filesystem::remove(Member(0) + "/.tapedeck/behind.json");
  EXPECT_TRUE(Becomes(LunState::kReady));
}

}  // namespace
}  // namespace tapedeck::storage_node
