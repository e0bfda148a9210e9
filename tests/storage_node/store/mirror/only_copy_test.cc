// A copy that was away may hold the only copy of a recording: it goes only if somebody ordered it.
#include "tests/storage_node/store/mirror/mirror_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::LunState;

class OnlyCopy : public MirrorTest {
 protected:
  // Something is written without member 1, so that its copy is behind once it is back.
  void GoWithoutMemberOne() {
    MoveAway(1);
    deck_.Start();
    deck_.RecordAndSeal(4);
  }
  void ComeBackAndScrub() {
    PutBack(1);
    EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
    ExpectScrubMends();
  }
  void ForgetCatalog() const {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(deck_.state_dir() + "/catalog.sqlite" + suffix);
    }
  }
};

TEST_F(OnlyCopy, StaysWhereNobodyOrderedItsDeletion) {
  const std::string recording = deck_.RecordAndSeal(20);
  deck_.Stop();
  fs::remove_all(deck_.Directory(recording, 0));
  ForgetCatalog();
  GoWithoutMemberOne();
  ComeBackAndScrub();
  deck_.Stop();
  deck_.Start();
  ExpectPlays(recording, 20);
}

TEST_F(OnlyCopy, StaysWhereOneOfItsNameIsBroughtBack) {
  const std::string recording = deck_.RecordAndSeal(20);
  deck_.Stop();
  fs::remove_all(deck_.Directory(recording, 0));
  ForgetCatalog();
  GoWithoutMemberOne();
  PutBack(1);
  EXPECT_TRUE(Becomes(LunState::kDegraded, "one copy is whole"));
  auto brought = deck_.Record({.original = services::session::Original{
                                   .recording = recording, .uid = "u-1", .open_time_ns = 1}});
  if (brought.ok()) {
    EXPECT_NE(brought->admission.accept.recording, recording);
    EXPECT_TRUE(brought->Finish().ok());
  }
  EXPECT_TRUE(fs::exists(deck_.Directory(recording, 1)));
  ExpectScrubMends();
  deck_.Stop();
  deck_.Start();
  ExpectPlays(recording, 20);
}

TEST_F(OnlyCopy, GoesIfItWasDeletedWhileItWasAway) {
  const std::string recording = deck_.RecordAndSeal(20);
  deck_.Stop();
  GoWithoutMemberOne();
  ASSERT_TRUE(deck_.node().recordings().DeleteRecording(recording).ok());
  deck_.Stop();
  deck_.Start();  // the list outlives the node
  ComeBackAndScrub();
  EXPECT_FALSE(fs::exists(deck_.Directory(recording, 1)));
  EXPECT_FALSE(fs::exists(Member(0) + "/.tapedeck/deleted"));
}

}  // namespace
}  // namespace tapedeck::storage_node
