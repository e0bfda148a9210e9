// What a storage node does with more workers than it takes.
#include "services/session/serving/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <variant>
#include <vector>

#include "services/base/errors.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::services::session {
namespace {

using storage_node::ManualExecutor;

struct Heard {
  std::vector<Message> messages;
  bool closed = false;
  bool cut = false;
};

// A control stream whose worker reads nothing and stays.
class RefusedStream final : public ControlStream {
 public:
  explicit RefusedStream(Heard* heard) : heard_(heard) {}
  ~RefusedStream() override { heard_->cut = true; }
  void Start(ControlEvents*, dataplane::Executor*) override {}
  void Send(const Message& message) override { heard_->messages.push_back(message); }
  void Close(const absl::Status&) override { heard_->closed = true; }

 private:
  Heard* const heard_;
};

class RefusalTest : public testing::Test {
 protected:
  RefusalTest() { registry_.Drain(0); }

  void Come(int workers) {
    for (int i = 0; i < workers; ++i) {
      registry_.OnStream(std::make_unique<RefusedStream>(&workers_.emplace_back()));
    }
  }
  auto Told() const { return std::ranges::count(workers_, true, &Heard::closed); }
  auto Cut() const { return std::ranges::count(workers_, true, &Heard::cut); }
  bool RunUntilTold(int workers) {
    return executor_.RunUntil([&] { return Told() == workers; });
  }

  std::deque<Heard> workers_;  // heard of until the executor's last task is gone
  ManualExecutor executor_{absl::ZeroDuration()};
  Registry registry_{{&executor_}, {}, nullptr};
};

TEST_F(RefusalTest, AFewAreToldWhyAtOnce) {
  const int64_t began_ns = executor_.clock().NowNs();
  Come(kPromptRefusals);
  ASSERT_TRUE(RunUntilTold(kPromptRefusals));
  EXPECT_LT(executor_.clock().NowNs() - began_ns, kRefusalDelayNs);
  for (const Heard& worker : workers_) {
    ASSERT_EQ(worker.messages.size(), 1u);
    const auto* finished = std::get_if<Finished>(&worker.messages.front());
    ASSERT_NE(finished, nullptr);
    EXPECT_EQ(ReasonOf(finished->cause)->reason, "DRAINING");
  }
}

TEST_F(RefusalTest, ACrowdWaitsForItsAnswer) {
  const int64_t began_ns = executor_.clock().NowNs();
  Come(kPromptRefusals + 20);
  ASSERT_TRUE(RunUntilTold(kPromptRefusals));
  ASSERT_TRUE(RunUntilTold(kPromptRefusals + 20));
  EXPECT_GE(executor_.clock().NowNs() - began_ns, kRefusalDelayNs);
}

TEST_F(RefusalTest, WhoeverDoesNotReadIsLeftAndTheRestCutOff) {
  Come(kMaxRefusals + 20);
  EXPECT_EQ(Cut(), 20);
  ASSERT_TRUE(executor_.RunUntil([&] { return Cut() == kMaxRefusals + 20; }));
  EXPECT_EQ(Told(), kMaxRefusals);
  Come(1);
  EXPECT_TRUE(RunUntilTold(kMaxRefusals + 1));
}

}  // namespace
}  // namespace tapedeck::services::session
