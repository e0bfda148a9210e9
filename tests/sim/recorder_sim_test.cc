// The whole recorder on one thread and virtual time, network and disk failing together: session,
// sender, receiver, writer, recovery and reader are the product's own, the seed chooses what fails
// when. What the worker was told to be durable is there and right; nothing wrong is ever given.
#include <gtest/gtest.h>

#include "services/base/errors.h"
#include "storage_node/recording/recovery/recovery.h"
#include "tests/sim/disks/disk_host.h"
#include "tests/sim/disks/fault_device.h"
#include "tests/sim/disks/fault_store.h"
#include "tests/sim/fired.h"
#include "tests/sim/seeds.h"
#include "tests/sim/simulated_session.h"

namespace tapedeck::sim {
namespace {

using namespace storage_node;  // NOLINT: the names under test
using services::session::Direction;
using services::session::TransferOp;

constexpr uint64_t kBlockBytes = 16 << 10;  // four pages: a transfer may be short
constexpr uint64_t kMaxBlocks = 48;
constexpr uint64_t kDeviceBytes = 24 << 20;

// One recording: made, recovered, played. Every third seed has devices with the real device store,
// the others files.
class Life {
 public:
  Life(uint64_t seed, Fired& fired)
      : seed_(seed),
        fired_(fired),
        random_(seed * 77),
        members_(static_cast<uint32_t>(1 + seed % 2)),
        host_(MakeStore(), members_, kBlockBytes) {
    disk_.random.seed(seed);
  }

  // Fingerprint of everything that happened.
  uint64_t Execute() {
    RecordUnderFaults();
    if (testing::Test::HasFailure()) return 0;
    Recover();
    if (testing::Test::HasFailure() || !manifest_.has_value()) return fingerprint_;
    PlayUnderFaults();
    fired_["write lost by a power cut"] += disk_.losses.lost;
    fired_["write torn by a power cut"] += disk_.losses.torn;
    return fingerprint_;
  }

 private:
  enum class DiskFault { kNone, kPower, kErrors, kFull, kFlush };

  bool OnDevices() const { return seed_ % 3 == 0; }
  std::unique_ptr<store::Store> MakeStore();
  void StartAgain(bool power_cut);
  Scenario MakeScenario(Direction direction);
  void PlanDiskFaults();
  int64_t CompletionOf(size_t bytes);
  bool Run(SimulatedSession& session);
  void RecordUnderFaults();
  void Recover();
  void PlayUnderFaults();
  void Count(const SimulatedSession& session);

  const uint64_t seed_;
  Fired& fired_;
  std::mt19937_64 random_;
  const uint32_t members_;
  FaultDisk disk_;
  DiskHost host_;
  DiskFault fault_ = DiskFault::kNone;
  uint64_t acknowledged_ = 0;
  uint64_t fingerprint_ = 0;
  std::optional<format::Manifest> manifest_;
};

std::unique_ptr<store::Store> Life::MakeStore() {
  if (!OnDevices()) return MakeFaultStore(disk_, members_);
  disk_.devices.assign(members_, DiskImage(kDeviceBytes));
  return *MakeDeviceLun(disk_);
}

// Nothing that the node has under way reaches the disk once the power is off.
void Life::StartAgain(bool power_cut) {
  if (power_cut) disk_.operations_left = 0;
  host_.CloseStore();
  if (power_cut) disk_.CutPower(random_());
  host_.SetStore(OnDevices() ? *OpenDeviceLun(disk_) : MakeFaultStore(disk_, members_));
}

Scenario Life::MakeScenario(Direction direction) {
  Scenario scenario{.seed = random_(),
                    .blocks = 1 + random_() % kMaxBlocks,
                    .block_bytes = kBlockBytes,
                    .faults = true};
  scenario.open.direction = direction;
  constexpr TransferOp kOps[] = {TransferOp::kRead, TransferOp::kWrite, TransferOp::kSend};
  scenario.open.op = kOps[random_() % 3];
  return scenario;
}

void Life::PlanDiskFaults() {
  constexpr DiskFault kFaults[] = {DiskFault::kNone,  DiskFault::kPower,  DiskFault::kPower,
                                   DiskFault::kPower, DiskFault::kErrors, DiskFault::kFull,
                                   DiskFault::kFlush};
  fault_ = kFaults[random_() % std::size(kFaults)];
  const uint64_t at = random_() % 150;
  if (fault_ == DiskFault::kPower) disk_.operations_left = at;
  disk_.fault = [this, at](const std::string& operation, uint32_t member) -> absl::Status {
    const bool writes = operation.starts_with("write");
    if (fault_ == DiskFault::kErrors && disk_.random() % 40 == 0) {
      ++fired_["EIO"];
      return DiskError(operation, member, "Input/output error");
    }
    if (fault_ == DiskFault::kFull && writes && disk_.operations > at) {
      ++fired_["ENOSPC"];
      return DiskFull(operation, member);
    }
    if (fault_ == DiskFault::kFlush && operation == "flush" && disk_.operations > at) {
      ++fired_["failed flush"];
      return DiskError(operation, member, "Input/output error");
    }
    return absl::OkStatus();
  };
  disk_.stall_ns = [this]() -> int64_t {
    const bool stall = disk_.random() % 200 == 0;
    if (stall) ++fired_["disk stall"];
    return static_cast<int64_t>(disk_.random() %
                                (stall ? 2 * dataplane::kSecondNs : dataplane::kMillisecondNs));
  };
}

int64_t Life::CompletionOf(size_t bytes) {
  if (disk_.random() % 4 != 0) return static_cast<int64_t>(bytes);
  const int64_t completion = ShortCompletion(bytes, disk_.random);
  ++fired_[completion < 0 ? "interrupted transfer" : "short transfer"];
  return completion;
}

// The disk's own threads are an executor of the session's world.
bool Life::Run(SimulatedSession& session) {
  dataplane::Executor& disk = session.world().NewExecutor("node/disk");
  disk_.later = [this, &disk](dataplane::Task task) {
    const int64_t stall_ns = disk_.stall_ns ? disk_.stall_ns() : 0;
    disk.PostAt(disk.clock().NowNs() + stall_ns, std::move(task));
  };
  disk_.completion = [this](bool, size_t bytes) { return CompletionOf(bytes); };
  const bool ended = session.Execute();
  disk_.later = nullptr;
  disk_.completion = nullptr;
  return ended;
}

void Life::Count(const SimulatedSession& session) {
  fired_["network drop"] += session.fabric_counts().dropped;
  fired_["network duplicate"] += session.fabric_counts().duplicated;
  fired_["network reordering"] += session.fabric_counts().overtaken;
  fired_["rail loss"] += session.rail_losses();
}

void Life::RecordUnderFaults() {
  PlanDiskFaults();
  Scenario scenario = MakeScenario(Direction::kRecord);
  scenario.node_is_dead = [this] { return disk_.operations_left == 0; };
  {
    SimulatedSession session(scenario, host_);
    EXPECT_TRUE(Run(session)) << "recording hangs";
    acknowledged_ = std::max(session.acknowledged(), session.result().blocks);
    fingerprint_ = session.world().fingerprint();
    Count(session);
    const absl::Status& error = session.result().error;
    if (disk_.operations_left > 0 && error.ok()) {
      EXPECT_EQ(acknowledged_, scenario.blocks) << "a good end with blocks not acknowledged";
    } else if (disk_.operations_left > 0) {
      EXPECT_TRUE(services::ReasonOf(error).has_value()) << error;
      ++fired_["session ended with " + services::ReasonOf(error)->reason];
    }
  }
  if (disk_.operations_left == 0) ++fired_["power cut while recording"];
  disk_.fault = nullptr;
  disk_.stall_ns = nullptr;
  StartAgain(fault_ == DiskFault::kPower || random_() % 2 == 0);
}

void Life::Recover() {
  const VirtualClock clock;
  for (int tries = 0;; ++tries) {
    auto manifest = recording::LoadManifest(host_.store(), DiskHost::path(), clock);
    if (!manifest.ok()) {
      EXPECT_TRUE(absl::IsNotFound(manifest.status())) << manifest.status();
      EXPECT_EQ(acknowledged_, 0u) << "acknowledged without a manifest";
      return;
    }
    if (manifest->state != services::RecordingState::kRecording) {
      manifest_ = *std::move(manifest);
      return;
    }
    if (tries < 2) disk_.operations_left = random_() % 40;
    const auto salvaged =
        recording::SalvageRecording(host_.store(), DiskHost::path(), *manifest, "power", clock);
    if (disk_.operations_left == 0) ++fired_["power cut while recovering"];
    if (tries >= 2 && !salvaged.ok()) {
      ADD_FAILURE() << "a sound disk, and no recovery: " << salvaged.status();
      return;
    }
    StartAgain(/*power_cut=*/true);
  }
}

void Life::PlayUnderFaults() {
  host_.SetManifest(*manifest_);
  const bool errors = random_() % 3 == 0;
  disk_.fault = [this, errors](const std::string& operation, uint32_t member) -> absl::Status {
    if (!errors || disk_.random() % 20 != 0) return absl::OkStatus();
    ++fired_["EIO while playing"];
    return DiskError(operation, member, "Input/output error");
  };
  SimulatedSession session(MakeScenario(Direction::kPlayback), host_);
  EXPECT_TRUE(Run(session)) << "playback hangs";
  EXPECT_TRUE(session.result().error.ok()) << session.result().error;
  Count(session);
  fingerprint_ ^= session.world().fingerprint();
  EXPECT_LE(session.good().size() + manifest_->missing_blocks(), manifest_->blocks);
  if (errors) return;
  EXPECT_EQ(session.good().size() + manifest_->missing_blocks(), manifest_->blocks);
  for (uint64_t i = 0; i < acknowledged_; ++i) {
    EXPECT_TRUE(session.good().contains(i)) << "lost block " << i;
  }
  fired_["blocks acknowledged and played"] += acknowledged_;
}

TEST(RecorderSim, LosesNothingUnderFaultsOfNetworkAndDisk) {
  Fired fired;
  uint64_t runs = 0;
  for (const uint64_t seed : FaultSeeds(500)) {
    SCOPED_TRACE(HowToRepeat(seed));
    Life life(seed, fired);
    life.Execute();
    ++runs;
    if (HasFailure()) return;
  }
  printf("%llu seeds\n", static_cast<unsigned long long>(runs));
  Print(fired);
  if (runs < 100) return;  // one that is repeated
  for (const char* what :
       {"EIO", "ENOSPC", "failed flush", "disk stall", "network drop", "network duplicate",
        "network reordering", "rail loss", "power cut while recording",
        "power cut while recovering", "EIO while playing", "short transfer", "interrupted transfer",
        "write lost by a power cut", "write torn by a power cut",
        "blocks acknowledged and played"}) {
    EXPECT_GT(fired[what], 0u) << what;
  }
}

TEST(RecorderSim, RepeatsExactly) {
  Fired fired;
  for (const uint64_t seed : FaultSeeds(20)) {
    EXPECT_EQ(Life(seed, fired).Execute(), Life(seed, fired).Execute()) << HowToRepeat(seed);
  }
}

}  // namespace
}  // namespace tapedeck::sim
