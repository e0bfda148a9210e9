// What a LUN goes through: recordings that follow and overlap each other, the oldest deleted where
// room is short, others deleted while one is written. At some of the disk's operations it is copied
// together with what the outside has been told by then: there the power may be cut.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "storage_node/recording_writer.h"
#include "storage_node/store/store.h"
#include "tests/sim/fault_disk.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::sim {

// A recording as the outside knows it.
struct Take {
  enum class State {
    kOpen,
    kClosed,
    kGoing,  // its deletion was begun and nobody knows how that ended
    kGone
  };
  storage_node::store::RecordingPath path;
  storage_node::format::Manifest manifest;  // as it began
  State state = State::kOpen;
  uint64_t pushed = 0;
  uint64_t acknowledged = 0;  // every block below was said to be durable
  uint64_t units = 0;         // of room, on each member
  std::set<uint64_t> held;    // once closed: exactly these blocks

  // The payload of every block of every take differs.
  void Fill(uint64_t sequence, std::span<std::byte> payload) const;
  bool IsRight(uint64_t sequence, std::span<const std::byte> payload) const;
};

// By number: older ones come first.
using Ledger = std::map<uint64_t, Take>;

struct Room {
  uint32_t members = 1;
  uint64_t units = 0;  // on each member
  uint64_t unit_bytes = 0;
  std::vector<uint64_t> block_bytes;  // a take has blocks of one of these
};

struct Moment {
  FaultDisk disk;
  Ledger ledger;
  std::string before;  // which operation
};

// One thread.
class LunLife {
 public:
  // `store` is over `disk`. Both outlive it, as the ledger does.
  LunLife(FaultDisk& disk, storage_node::store::Store& store, const Room& room, Ledger* ledger,
          uint64_t seed);
  ~LunLife();

  // Returns moments in it.
  std::vector<Moment> Run(uint64_t takes);

 private:
  struct Writing {
    Take* take = nullptr;
    uint64_t blocks = 0;
    bool sealed = false;
    std::shared_ptr<dataplane::SlotPool> ring;
    std::unique_ptr<storage_node::RecordingWriter> writer;
  };

  void Turn();
  void Begin();
  bool MakeRoom(uint64_t units);
  void Step(Writing& writing);
  void Delete(Take& take);
  void DeleteAny();
  void Observe(const std::string& operation);

  FaultDisk& disk_;
  storage_node::store::Store& store_;
  const Room room_;
  Ledger* const ledger_;
  std::mt19937_64 random_;
  storage_node::ManualExecutor executor_{absl::ZeroDuration()};
  uint64_t takes_left_ = 0;
  std::list<Writing> writing_;
  std::vector<Moment> moments_;
};

}  // namespace tapedeck::sim
