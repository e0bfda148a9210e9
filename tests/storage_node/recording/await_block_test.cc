// A ring of one slot whose store gives it back late is waited for.
#include "storage_node/recording/await_block.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint32_t kBytes = 4096;

// Every other read fails, and its slot comes back only some time after the answer.
class LateFiles final : public store::DataFiles {
 public:
  explicit LateFiles(dataplane::Executor& executor) : executor_(executor) {}
  ~LateFiles() override {
    for (std::thread& thread : threads_) thread.join();
  }

  bool ReadBlock(format::Place /*place*/, uint32_t bytes, dataplane::SlotPool& ring,
                 store::BlockRead done) override {
    std::optional<dataplane::Block> slot = ring.Take();
    if (!slot.has_value()) return false;
    slot->header().payload_bytes = bytes;
    threads_.emplace_back([this, fails = reads_++ % 2 == 0, slot = *std::move(slot),
                           done = std::move(done)]() mutable {
      absl::StatusOr<dataplane::Block> result = absl::InternalError("Input/output error");
      if (!fails) result = std::move(slot);
      executor_.Post([result = std::move(result), done = std::move(done)]() mutable {
        done(std::move(result));
      });
      absl::SleepFor(absl::Milliseconds(20));
    });
    return true;
  }

  void WriteBlock(format::Place, dataplane::Block, store::BlockDone) override {}
  void Flush(store::Done) override {}
  void Trim(std::vector<uint64_t>, uint64_t, store::Done) override {}

 private:
  dataplane::Executor& executor_;
  int reads_ = 0;
  std::vector<std::thread> threads_;
};

TEST(AwaitBlockTest, ASlotThatComesBackLateIsWaitedFor) {
  dataplane::SystemClock clock;
  recording::CallerLoop loop(clock);
  LateFiles files(loop);
  const auto ring =
      dataplane::MemoryPool::Create(dataplane::host::Create(kBytes).value(), kBytes).value();
  for (int i = 0; i < 10; ++i) {
    const auto block = recording::AwaitBlock(loop, files, *ring, {}, kBytes);
    EXPECT_EQ(block.ok(), i % 2 == 1) << block.status();
  }
}

}  // namespace
}  // namespace tapedeck::storage_node
