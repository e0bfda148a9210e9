// A LUN on a simulated disk while recordings come and go: makes room by deleting the oldest, and
// keeps the ledger. At some of the disk's operations it is copied together with the ledger: there
// the power may be cut.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage_node/capture/armed_recording.h"
#include "storage_node/recordings/leases.h"
#include "storage_node/store/store.h"
#include "tests/sim/luns/ledger.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::sim {

struct Made {
  Take* take = nullptr;
  storage_node::capture::ArmedRecording recording;
};

// Owned by the life that it is part of; one thread.
class SimulatedLun {
 public:
  static constexpr size_t kRingSlots = 16;

  // `store` is over `disk`. Both outlive it, as the ledger does.
  SimulatedLun(FaultDisk& disk, storage_node::store::Store& store, const Room& room, Ledger* ledger,
               uint64_t seed);
  ~SimulatedLun();
  SimulatedLun(const SimulatedLun&) = delete;

  // Called before each moment, to write down what has been acknowledged.
  void SetLook(std::function<void()> look) { look_ = std::move(look); }
  // As FaultDisk::fault; "make" is asked for each new recording.
  void SetFault(std::function<absl::Status(const std::string&, uint32_t)> fault) {
    fault_ = std::move(fault);
  }

  // A fresh recording of up to `blocks` blocks that begins as `take`. RESOURCE_EXHAUSTED
  // (LUN_FULL): what lies there may not go.
  absl::StatusOr<Made> Make(Take take, uint64_t blocks);
  absl::Status Delete(Take& take);
  // Whether what the disk does now is part of that.
  bool deleting() const { return deleting_; }
  // Holds a recording that is closed, or `writing`; null if it is gone.
  std::shared_ptr<storage_node::recording::Hold> Pin(const std::string& recording, bool writing);

  // Moments so far.
  std::vector<Moment> TakeMoments() { return std::move(moments_); }

  storage_node::ManualExecutor& executor() { return executor_; }
  storage_node::store::Store& store() { return store_; }
  Ledger& ledger() { return *ledger_; }
  uint64_t Random() { return random_(); }
  uint64_t BlockBytes() { return room_.block_bytes[random_() % room_.block_bytes.size()]; }
  std::shared_ptr<dataplane::SlotPool> MakeRing(uint64_t block_bytes);

 private:
  absl::Status MakeRoom(uint64_t units);
  bool MayGo(const Take& take) const;
  void OnSealed(Take& take, const storage_node::format::Manifest& manifest);
  void Observe(const std::string& operation);

  FaultDisk& disk_;
  storage_node::store::Store& store_;
  const Room room_;
  Ledger* const ledger_;
  std::mt19937_64 random_;
  storage_node::ManualExecutor executor_{absl::ZeroDuration()};
  const std::shared_ptr<storage_node::recordings::Leases> leases_ =
      std::make_shared<storage_node::recordings::Leases>();
  std::function<void()> look_;
  std::function<absl::Status(const std::string&, uint32_t)> fault_;
  bool deleting_ = false;
  std::vector<Moment> moments_;
};

}  // namespace tapedeck::sim
