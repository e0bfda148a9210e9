// Every small allocation finds no memory once: while a session is admitted and records, flushes and
// seals, and while the node recovers what that left. Each time the process ends at once with the
// status and the line that say so, and what it had acknowledged is there and right. Large
// allocations are refused instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/time/clock.h"
#include "services/base/process/memory.h"
#include "tests/faults/failing_new.h"
#include "tests/faults/short_lived.h"
#include "tests/sim/seeds.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::faults {
namespace {

using namespace storage_node;  // NOLINT: the names under test
using testing::HasSubstr;

constexpr uint64_t kBlocks = 12;
// A test takes every so-many-th allocation, so that tests can run side by side.
constexpr uint64_t kShards = 4;
// So many processes leave their recordings before they are looked at.
constexpr size_t kBatch = 16;

// What a process tells, in memory that outlives it.
struct Ledger {
  uint64_t written = 0;  // acknowledged
  uint64_t durable = 0;
  bool sealed = false;
  bool met = false;  // the allocation that was to fail was reached
  uint64_t counted = 0;
  char recording[200] = {};
  char error[400] = {};  // why it ended without a seal
};

// Time goes on by so much, as it would while nothing happens; timers run.
void Pass(ManualExecutor& executor, int64_t ns) {
  bool passed = false;
  executor.PostAt(executor.clock().NowNs() + ns, [&] { passed = true; });
  executor.RunUntil([&] { return passed; });
}

// Blocks, a flush and a watermark page, blocks, the seal.
void RecordAll(NodeFixture& node, uint64_t seed, Ledger& ledger, uint64_t blocks = kBlocks) {
  const auto give_up = [&](const absl::Status& status) {
    status.ToString().copy(ledger.error, sizeof(ledger.error) - 1);
  };
  auto recorder = node.Record({}, seed);
  if (!recorder.ok()) return give_up(recorder.status());
  const auto& admission = recorder->admission;
  admission.accept.recording.copy(ledger.recording, sizeof(ledger.recording) - 1);
  const auto look = [&] {
    const dataplane::Watermarks marks = admission.sink->watermarks();
    ledger.written = marks.written;
    ledger.durable = marks.durable;
  };
  for (uint64_t i = 0; i < blocks; ++i) {
    if (const absl::Status status = recorder->Push(i); !status.ok()) return give_up(status);
    node.executor().RunReady();
    look();
    if (i != blocks / 2) continue;
    node.executor().RunUntil([&] {
      look();
      return ledger.durable > i;
    });
    Pass(node.executor(), 30 * dataplane::kMillisecondNs);
  }
  if (blocks < kBlocks) return;
  node.executor().RunUntil([&] {
    look();
    const auto flow = admission.sink->Finish(absl::OkStatus());
    give_up(flow.status());
    ledger.sealed = flow.ok() && *flow == dataplane::Flow::kEnd;
    return !flow.ok() || ledger.sealed;
  });
  look();
}

// Whether allocation `n` was met. Another thread may have, which then ends the process in a moment.
bool WasMet(uint64_t n) {
  if (AllocationsCounted() < n) return false;
  absl::SleepFor(absl::Seconds(5));
  return true;
}

struct Case {
  std::string store;
  uint64_t shard = 0;
};

void PrintTo(const Case& printed, std::ostream* out) { *out << printed.store << printed.shard; }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (uint64_t shard = 0; shard < kShards; ++shard) {
    cases.push_back({"posix", shard});
    cases.push_back({"direct", shard});
  }
  // A device's own reads and writes take their time: every fourth is enough there.
  cases.push_back({"device", 0});
  return cases;
}

class EachAllocation : public testing::TestWithParam<Case> {
 protected:
  EachAllocation() {
    earlier_ = node_.RecordAndSeal(4);
    node_.Stop();
  }

  // What the process said last, for as long as nobody else has spoken.
  std::string Said() const {
    std::ifstream file(said_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void ExpectEndedForMemory(const std::string& how) {
    EXPECT_EQ(how, "exit 71") << Said();
    EXPECT_THAT(Said(), HasSubstr("out of memory: this process ends here"));
    EXPECT_THAT(Said(), HasSubstr("are kept"));
  }

  // Against the running node.
  void CheckRecording(const Ledger& ledger);
  // Starts a sound node, which recovers, and looks at what the ledgers speak of.
  void Check(std::vector<SharedLedger<Ledger>>& ledgers);

  NodeFixture node_{GetParam().store, 1, 0};
  std::string earlier_;
  const std::string said_ = node_.dir().path() + "/said";
};

void EachAllocation::CheckRecording(const Ledger& ledger) {
  const uint64_t acknowledged = std::max(ledger.written, ledger.durable);
  const std::string name = ledger.recording;
  if (name.empty()) return;
  if (acknowledged == 0 && !node_.node().recordings().GetRecording(name).ok()) return;
  const services::Recording found = node_.Get(name);
  EXPECT_GE(found.blocks, acknowledged);
  if (ledger.sealed) {
    EXPECT_EQ(found.state, services::RecordingState::kSealed);
  }
  // Compares every byte that is there.
  const auto headers = node_.PlayAll(name);
  EXPECT_EQ(headers.size(), found.blocks);
  for (const auto& header : headers) {
    const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
    EXPECT_FALSE(missing && header.sequence < acknowledged) << "lost block " << header.sequence;
  }
  for (const services::DamagedBlock& block : node_.Verify(name)) {
    EXPECT_GE(block.sequence, acknowledged);
    EXPECT_EQ(block.kind, services::DamageKind::kMissing) << block.sequence;
  }
}

void EachAllocation::Check(std::vector<SharedLedger<Ledger>>& ledgers) {
  node_.Start();
  for (const auto& ledger : ledgers) CheckRecording(*ledger);
  EXPECT_EQ(node_.PlayAll(earlier_).size(), 4u) << "an earlier recording suffered";
  const auto all = node_.node().recordings().ListRecordings("luns/l/channels/c");
  ASSERT_TRUE(all.ok()) << all.status();
  for (const services::Recording& recording : *all) {
    EXPECT_NE(recording.state, services::RecordingState::kRecording) << recording.name;
    if (recording.name == earlier_) continue;
    EXPECT_TRUE(node_.node().recordings().DeleteRecording(recording.name).ok());
  }
  node_.Stop();
  ledgers.clear();
}

TEST_P(EachAllocation, WhileRecordingAndSealing) {
  std::vector<SharedLedger<Ledger>> ledgers;
  uint64_t tried = 0, acknowledged = 0;
  // A process without memory ends at once: a sanitizer has the same to look at each time.
  const uint64_t step = sim::FewStates() ? 4 * kShards : kShards;
  for (uint64_t n = GetParam().shard + 1;; n += step) {
    Ledger& ledger = *ledgers.emplace_back();
    const std::string ended = RunShortLived(said_, [&] {
      services::EndWhenOutOfMemory();
      node_.Start();
      FailAllocation(n);
      RecordAll(node_, 1, ledger);
      ledger.met = WasMet(n);
    });
    const bool last = ended == "exit 0";
    if (last) {
      EXPECT_FALSE(ledger.met) << "an allocation without memory went by";
      EXPECT_TRUE(ledger.sealed) << ledger.error;
    } else {
      ExpectEndedForMemory(ended);
      ++tried;
      acknowledged += std::max(ledger.written, ledger.durable);
    }
    if (last || ledgers.size() == kBatch) Check(ledgers);
    ASSERT_FALSE(HasFailure()) << "allocation " << n;
    if (last) break;
  }
  std::cout << GetParam().store << ": " << tried << " allocations failed while recording, "
            << acknowledged << " blocks acknowledged before, 0 lost\n";
  EXPECT_GT(tried * step, 100 * kShards);
  EXPECT_GT(acknowledged, tried);
}

// Of many allocations in the middle of a start, which are the same step for each place of an index,
// some are taken; of those before and after, every second.
uint64_t StepFrom(uint64_t n, uint64_t all) {
  constexpr uint64_t kClose = 300, kFewest = 601;
  return n > kClose && n + kClose < all ? std::max(kFewest, all / 50) : 2 * kShards;
}

TEST_P(EachAllocation, WhileRecovering) {
  std::vector<SharedLedger<Ledger>> ledgers;
  const auto leave_and_recover = [&](Ledger& ledger, uint64_t n) {
    const std::string left = RunShortLived(said_, [&] {
      node_.Start();
      RecordAll(node_, 1, ledger, kBlocks / 2);
      _exit(0);
    });
    EXPECT_EQ(left, "exit 0") << Said();
    return RunShortLived(said_, [&] {
      services::EndWhenOutOfMemory();
      FailAllocation(n);
      node_.Start();
      ledger.counted = AllocationsCounted();
      ledger.met = n != 0 && WasMet(n);
    });
  };
  ASSERT_EQ(leave_and_recover(*ledgers.emplace_back(), 0), "exit 0") << Said();
  const uint64_t all = ledgers[0]->counted;
  uint64_t tried = 0;
  for (uint64_t n = 2 * GetParam().shard + 1;; n += StepFrom(n, all)) {
    Ledger& ledger = *ledgers.emplace_back();
    const std::string ended = leave_and_recover(ledger, n);
    const bool last = ended == "exit 0";
    if (last) {
      EXPECT_FALSE(ledger.met) << "an allocation without memory went by";
    } else {
      ExpectEndedForMemory(ended);
      ++tried;
    }
    if (last || ledgers.size() == kBatch) Check(ledgers);
    ASSERT_FALSE(HasFailure()) << "allocation " << n;
    if (last) break;
  }
  std::cout << GetParam().store << ": " << tried << " allocations failed while recovering\n";
  EXPECT_GT(tried, 20u);
}

INSTANTIATE_TEST_SUITE_P(Stores, EachAllocation, testing::ValuesIn(Cases()), [](const auto& info) {
  return info.param.store + "_" + std::to_string(info.param.shard);
});

// From one allocation on there is no memory at all: the first failure is the last.
TEST(NoMemoryAnyMore, EndsTheProcessAtOnce) {
  NodeFixture node;
  node.Stop();
  const std::string said = node.dir().path() + "/said";
  const std::string ended = RunShortLived(said, [&] {
    services::EndWhenOutOfMemory();
    node.Start();
    FailAllocation(50, /*for_ever=*/true);
    Ledger ledger;
    RecordAll(node, 1, ledger);
  });
  EXPECT_EQ(ended, "exit 71");
  std::ifstream file(said);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text.find("out of memory"), text.rfind("out of memory")) << text;
}

TEST(LargeAllocations, AreRefusedWhereTheyAreAskedFor) {
  for (const store::StoreKind& kind : store::StoreKinds()) {
    for (const bool exposed : {false, true}) {
      const TempDir dir;
      services::Lun lun{.name = "luns/l",
                        .uid = "00112233-4455-4677-8899-aabbccddeeff",
                        .store = kind.name,
                        .capacity_bytes = 64 << 20};
      if (kind.member != nullptr && kind.member->is("rados:pool")) continue;  // needs a cluster
      if (kind.member != nullptr) {
        const std::string made = dir.Make("m");
        lun.members = {kind.member->is(made) ? made : dir.MakeImage("i", 1 << 30)};
      }
      const auto store = kind.create(lun);
      ASSERT_TRUE(store.ok()) << store.status();
      const absl::Status status =
          (*store)
              ->MakeRing({.slots = 1 << 20, .slot_bytes = 8 << 20, .exposed_to_peer = exposed})
              .status();
      EXPECT_TRUE(absl::IsResourceExhausted(status)) << kind.name << ": " << status;
      EXPECT_NE(Reason(status), "none") << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("bytes"));
    }
  }
}

TEST(LargeAllocations, OfAMemoryLunLeaveNoLun) {
  NodeFixture node;
  const auto made = node.node().luns().CreateLun(
      {.name = "luns/huge", .store = "memory", .capacity_bytes = uint64_t{1} << 50}, "");
  EXPECT_TRUE(absl::IsResourceExhausted(made.status())) << made.status();
  EXPECT_EQ(Reason(made.status()), "LIMIT_REACHED");
  EXPECT_FALSE(node.node().luns().GetLun("luns/huge").ok());
}

}  // namespace
}  // namespace tapedeck::faults
