// How a trigger gets to a session, and what its caller is told when the session or its disk hangs.
#include "storage_node/capture/trigger_port.h"

#include <gmock/gmock.h>
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
        [this](const services::Trigger& trigger, TriggerPort::Answer answer) {
          ++acts_;
          trigger_ = trigger;
          answer_ = std::move(answer);
        },
        patience);
  }
  void Answer() { answer_(Caught{.capture = {.trigger_sample = *trigger_.sample}}); }
  std::future<absl::StatusOr<Caught>> Fire() {
    return std::async(std::launch::async, [this] { return port_->Fire({.sample = 7}); });
  }
  void RunUntilAsked() {
    EXPECT_TRUE(executor_.RunUntil([this] { return acts_ > 0; }));
  }

  ManualExecutor executor_;
  int acts_ = 0;
  services::Trigger trigger_;
  TriggerPort::Answer answer_;
  std::optional<TriggerPort> port_;
};

TEST_F(TriggerPortTest, BringsTheTriggerAndItsAnswer) {
  Open();
  auto caught = Fire();
  RunUntilAsked();
  Answer();
  EXPECT_EQ(caught.get()->capture.trigger_sample, 7u);
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
  auto caught = Fire();
  RunUntilAsked();
  const absl::Status told = caught.get().status();
  EXPECT_EQ(Reason(told), "LUN_NOT_RESPONDING");
  EXPECT_THAT(std::string(told.message()), testing::HasSubstr("the node keeps the capture"));
  Answer();  // nobody waits for it
  EXPECT_EQ(acts_, 1);
}

TEST_F(TriggerPortTest, TheEndOfTheSessionIsAnAnswer) {
  Open();
  auto waiting = Fire();
  RunUntilAsked();
  auto on_its_way = Fire();
  port_->Close();
  answer_ = nullptr;
  EXPECT_TRUE(absl::IsUnavailable(waiting.get().status()));
  executor_.RunReady();
  EXPECT_TRUE(executor_.RunUntil(
      [&] { return on_its_way.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  EXPECT_TRUE(absl::IsUnavailable(on_its_way.get().status()));
  EXPECT_TRUE(absl::IsUnavailable(port_->Fire({}).status()));
}

}  // namespace
}  // namespace tapedeck::storage_node
