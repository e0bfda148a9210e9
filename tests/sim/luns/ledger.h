// What the outside knows of the recordings on a simulated LUN, and the moments at which its power
// may be cut.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"
#include "tests/sim/disks/fault_disk.h"

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
  storage_node::format::Manifest manifest;  // as it began; once closed, as it is durably
  State state = State::kOpen;
  uint64_t stream = 0;        // whose blocks it has: those of a session may go into several takes
  uint64_t first = 0;         // block of the stream
  std::set<uint64_t> came;    // given to its writer, with payload
  uint64_t acknowledged = 0;  // every block below was said to be durable
  uint64_t units = 0;         // of room, on each member
  std::set<uint64_t> held;    // once closed: exactly these blocks
  bool wanted = false;        // somebody was told that it is kept

  bool IsRight(uint64_t sequence, std::span<const std::byte> payload) const;
};

// The payload of every block of every stream differs.
void FillBlock(uint64_t stream, uint64_t number, std::span<std::byte> payload);

// By number: older ones come first.
using Ledger = std::map<uint64_t, Take>;

struct Room {
  uint32_t members = 1;
  uint64_t units = 0;  // on each member
  uint64_t unit_bytes = 0;
  std::vector<uint64_t> block_bytes;  // a stream has blocks of one of these
  // One operation in so many is a moment; while a deletion is under way one in a sixth of it.
  uint64_t operations_per_moment = 12;
};

struct Moment {
  FaultDisk disk;
  Ledger ledger;
  std::string before;  // which operation
};

}  // namespace tapedeck::sim
