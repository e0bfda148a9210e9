// Plays a recording into slots that a program reads. C++17, for nvcc as well.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tapedeck/deck.h"
#include "tapedeck/slot.h"
#include "tapedeck/status.h"

namespace tapedeck {

struct PlayerOptions {
  std::string storage;    // HOST:PORT of the storage node
  std::string recording;  // LUN/CHANNEL/RECORDING, or as Recorder::progress names it
  unsigned slots = 0;     // 1 to 4096; 0: 128 MiB of them, at most 128
};

// Slots go round in their order: each gets a block, is taken and released. Blocks come in the order
// of the recording, checked against their CRC32C.
//
// Any thread. Calls with one stream come from one thread at a time.
class Player {
 public:
  // RECORDING_NOT_FOUND, NODE_UNREACHABLE and what else the node says. Waits for it.
  static Result<Player> Open(const Deck& deck, const PlayerOptions& options);
  // Waits for the node, 5 seconds at most, and as long again for streams that were told of slots;
  // kernels that use one that was not released, and launches of graphs, must have ended before.
  ~Player();
  Player(Player&&) noexcept;
  Player& operator=(Player&&) noexcept;

  std::size_t block_bytes() const;
  std::size_t slots() const;
  // Of the recording; 0 while it is still recorded.
  std::uint64_t blocks() const;
  std::string datatype() const;  // as SigMF names it, "cf32_le"
  double sample_rate() const;    // in Hz
  std::vector<std::string> notes() const;

  // In the order of the host. Waits for the next block: DEADLINE_EXCEEDED. Behind the last one the
  // slot's info says kEnd; if the stream has failed, its error.
  Result<Slot> Next(std::chrono::nanoseconds timeout);
  Status Release(const Slot& slot);

  // In the order of a stream; neither waits. What the stream does behind Next finds the block in
  // the slot, and what it is in slot.info. A graph that is captured takes and releases every slot
  // once, and each of its launches is one round; it has the player for itself. ARGUMENT_INVALID: a
  // stream of another device, or a slot that is next but was not released. LIMIT_REACHED: a stream
  // of the host has too much to do.
  Result<Slot> Next(Stream stream);
  Status Release(Stream stream, const Slot& slot);

  // In host memory that kernels read: 0 until the session has failed, after which streams go on and
  // find slots without blocks.
  const std::uint64_t* failed() const;
  // OK while it plays and when it has ended well.
  Status status() const;

 private:
  struct Parts;
  explicit Player(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tapedeck
