// How a trigger gets to a session, and what its caller is told when the session or its disk hangs.
#include "storage_node/capture/trigger_port.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using capture::Caught;
using capture::TriggerPort;

class TriggerPortTest : public testing::Test {
 protected:
  void Open(absl::Duration patience = absl::Seconds(20)) {
    port_.emplace(
        executor_,
        [this](const services::Trigger& trigger) -> absl::StatusOr<Caught> {
          ++acts_;
          if (!ready_) return absl::AbortedError("not yet");
          return Caught{.capture = {.trigger_sample = trigger.sample.value_or(0)}};
        },
        patience);
  }
  std::future<absl::StatusOr<Caught>> Fire() {
    return std::async(std::launch::async, [this] { return port_->Fire({.sample = 7}); });
  }
  void RunUntilAsked() {
    EXPECT_TRUE(executor_.RunUntil([this] { return acts_ > 0; }));
  }

  ManualExecutor executor_;
  bool ready_ = true;
  int acts_ = 0;
  std::optional<TriggerPort> port_;
};

TEST_F(TriggerPortTest, BringsTheTriggerAndItsAnswer) {
  Open();
  auto caught = Fire();
  RunUntilAsked();
  EXPECT_EQ(caught.get()->capture.trigger_sample, 7u);
}

TEST_F(TriggerPortTest, IsTriedAgainWhenTheSessionIsReady) {
  Open();
  ready_ = false;
  auto caught = Fire();
  RunUntilAsked();
  port_->OnReady();
  EXPECT_EQ(acts_, 2) << "and it was not ready";
  ready_ = true;
  port_->OnReady();
  EXPECT_TRUE(caught.get().ok());
  EXPECT_EQ(acts_, 3);
  port_->OnReady();
  EXPECT_EQ(acts_, 3);
}

TEST_F(TriggerPortTest, ASessionThatDoesNotAnswerIsNotWaitedForForEver) {
  Open(absl::Milliseconds(20));
  const auto caught = port_->Fire({});
  EXPECT_TRUE(absl::IsDeadlineExceeded(caught.status()));
  EXPECT_EQ(Reason(caught.status()), "SESSION_STALLED");
  executor_.RunReady();
  EXPECT_EQ(acts_, 0) << "what was refused is not done later";
}

TEST_F(TriggerPortTest, ADiskThatMakesNoRecordingIsNamed) {
  Open(absl::Milliseconds(500));
  ready_ = false;
  auto caught = Fire();
  RunUntilAsked();
  EXPECT_EQ(Reason(caught.get().status()), "LUN_NOT_RESPONDING");
  ready_ = true;
  port_->OnReady();
  EXPECT_EQ(acts_, 1);
}

TEST_F(TriggerPortTest, TheEndOfTheSessionIsAnAnswer) {
  Open();
  ready_ = false;
  auto waiting = Fire();
  RunUntilAsked();
  auto on_its_way = Fire();
  port_->Close();
  EXPECT_TRUE(absl::IsUnavailable(waiting.get().status()));
  executor_.RunReady();
  EXPECT_TRUE(executor_.RunUntil(
      [&] { return on_its_way.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  EXPECT_TRUE(absl::IsUnavailable(on_its_way.get().status()));
  EXPECT_TRUE(absl::IsUnavailable(port_->Fire({}).status()));
}

}  // namespace
}  // namespace tapedeck::storage_node
