// How long a worker waits for the answer to its Open: by what the node says, and not by time in
// which the worker itself does not get to run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "services/session/opening/client_session.h"
#include "tests/sim/control_pair.h"
#include "tests/sim/world.h"

namespace tapedeck::sim {
namespace {

namespace session = services::session;
using dataplane::kSecondNs;

// A node's end that says what the test wants.
struct Node final : session::ControlEvents {
  void OnMessage(session::Message) override {}
  void OnClosed(const absl::Status&) override {}
};

class OpeningTest : public testing::Test {
 protected:
  OpeningTest() {
    control_.node->Start(&node_, &node_executor_);
    session_ = std::make_unique<session::ClientSession>(
        executor_,
        session::ClientSessionSettings{.node = "node:1",
                                       .open = {.channel = "luns/l0/channels/c0"}},
        std::move(control_.worker));
    executor_.Post([this] {
      session_->Start([this](const session::Snapshot& now) {
        if (!now.ended || ended_ns_.has_value()) return;
        ended_ns_ = world_.clock().NowNs();
        error_ = now.error;
      });
    });
  }
  ~OpeningTest() override { session_.reset(); }

  void SayAt(int64_t ns, const std::string& phase) {
    node_executor_.PostAt(
        ns, [this, phase] { control_.node->Send(session::Progress{.phase = phase}); });
  }
  // False: it has not ended by then.
  bool EndsBy(int64_t ns) {
    return world_.RunUntil([this] { return ended_ns_.has_value(); }, ns);
  }

  World world_{1};
  VirtualExecutor& executor_ = world_.NewExecutor("worker");
  VirtualExecutor& node_executor_ = world_.NewExecutor("node");
  ControlPair control_{world_};
  Node node_;
  std::unique_ptr<session::ClientSession> session_;
  std::optional<int64_t> ended_ns_;
  absl::Status error_;
};

TEST_F(OpeningTest, ANodeThatSaysNothingIsGivenUpAfterFiveSeconds) {
  ASSERT_TRUE(EndsBy(10 * kSecondNs));
  EXPECT_GE(*ended_ns_, 5 * kSecondNs);
  EXPECT_LT(*ended_ns_, 8 * kSecondNs);  // with its farewell
  EXPECT_THAT(std::string(error_.message()), testing::HasSubstr("has been silent for 5 s"));
}

TEST_F(OpeningTest, EachWordBeginsTheTimeAnewAndIsNamed) {
  for (int i = 1; i <= 9; ++i) SayAt(i * 4 * kSecondNs, "preparing memory");
  EXPECT_FALSE(EndsBy(40 * kSecondNs));
  ASSERT_TRUE(EndsBy(44 * kSecondNs));
  EXPECT_THAT(std::string(error_.message()), testing::HasSubstr("preparing memory"));
}

TEST_F(OpeningTest, NoneIsWaitedForWithoutEnd) {
  for (int i = 1; i <= 400; ++i) SayAt(i * 2 * kSecondNs, "preparing memory");
  ASSERT_TRUE(EndsBy(610 * kSecondNs));
  EXPECT_THAT(std::string(error_.message()), testing::HasSubstr("in 600 s"));
}

// A machine on which neither end has got to run for a while.
TEST_F(OpeningTest, TimeInWhichTheWorkerDoesNotRunIsNotTheNodes) {
  SayAt(13 * kSecondNs, "waiting for LUN l0");
  node_executor_.PostAt(kSecondNs, [this] { executor_.Freeze(true); });
  node_executor_.PostAt(12 * kSecondNs, [this] { executor_.Freeze(false); });
  EXPECT_FALSE(EndsBy(16 * kSecondNs)) << error_;
  ASSERT_TRUE(EndsBy(22 * kSecondNs));
}

}  // namespace
}  // namespace tapedeck::sim
