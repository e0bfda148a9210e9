// Records what a program puts into slots, as one recording of a channel. C++17, for nvcc as well.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tapedeck/deck.h"
#include "tapedeck/slot.h"
#include "tapedeck/status.h"

namespace tapedeck {

struct KernelChannel;  // tapedeck/kernel_channel.h

struct RecorderOptions {
  std::string storage;  // HOST:PORT of the storage node
  std::string channel;  // LUN/CHANNEL
  unsigned slots = 0;   // of the ring, 8 to 4096; 0: 128 MiB of them, at most 128
  std::map<std::string, std::string> labels;  // kept with the recording
  // How long it tries to go on if the node is gone; a day at most.
  std::chrono::milliseconds resume_for{0};
};

struct RecorderProgress {
  std::string recording;        // its name, to be played by
  std::uint64_t sent = 0;       // blocks that the library has got from the program
  std::uint64_t committed = 0;  // that are as safe as the channel promises; by default on the disks
  std::uint64_t bytes = 0;      // in them
  bool ended = false;
};

// Slots go round in their order: each is acquired, filled and sent, then its block is on its way,
// then it is free again. Several may be acquired at a time, and sent in any order; the recording
// has them in the order in which they were acquired.
//
// Any thread. Calls with one stream come from one thread at a time.
class Recorder {
 public:
  // CHANNEL_NOT_FOUND, CHANNEL_IN_USE, NODE_UNREACHABLE and what else the node says. Waits for it.
  static Result<Recorder> Open(const Deck& deck, const RecorderOptions& options);
  // Without Finish the recording ends behind what has come in order within 2 seconds. Waits for the
  // node, 5 seconds at most, and as long again for streams that were told of slots; kernels that
  // use one that was acquired and not sent, and launches of graphs, must have ended before.
  ~Recorder();
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;

  std::size_t block_bytes() const;
  std::size_t slots() const;
  // How blocks reach the network, and warnings.
  std::vector<std::string> notes() const;

  // In the order of the host. Waits for a free slot: DEADLINE_EXCEEDED. What was enqueued for the
  // slot is done when it is sent.
  Result<Slot> Acquire(std::chrono::nanoseconds timeout);
  // `bytes` are all of a block, but for the last one of a recording. ARGUMENT_INVALID: sent twice,
  // or more than there is room for.
  Status Send(const Slot& slot, std::size_t bytes);

  // In the order of a stream; neither waits. What the stream does behind Acquire finds the slot
  // free; Send takes what the stream has put there before. A slot is sent by the stream that has
  // acquired it, or by one behind it. A graph that is captured acquires and
  // sends each slot once at most, and each of its launches is one round; it has the recorder for
  // itself. ARGUMENT_INVALID: a stream of another device, or a slot that is next but was not sent.
  // LIMIT_REACHED: a stream of the host has too much to do.
  Result<Slot> Acquire(Stream stream);
  Status Send(Stream stream, const Slot& slot, std::size_t bytes);

  // In the order of kernels, which acquire and commit slots by themselves, for as long as they run:
  // fills in what they are given. The recorder must be fresh, and is theirs from here on. Waits for
  // the device, so that it comes before any kernel that runs on and on. They must have ended before
  // Finish and before the recorder goes; from then on they are told EPIPE. ARGUMENT_INVALID: the
  // slots were used already; LIMIT_REACHED.
  Status GiveToKernels(KernelChannel* channel);

  // In host memory that kernels read: 0 until the session has failed, after which streams go on and
  // what they send goes nowhere.
  const std::uint64_t* failed() const;
  // OK while it records; why it has failed.
  Status status() const;
  RecorderProgress progress() const;

  // Waits until all that was sent is committed. DEADLINE_EXCEEDED.
  Status Flush(std::chrono::nanoseconds timeout);
  // Ends the recording behind what was sent, and waits until it is whole. Launches of a graph have
  // ended before. DEADLINE_EXCEEDED.
  Result<RecorderProgress> Finish(std::chrono::nanoseconds timeout);

 private:
  struct Parts;
  explicit Recorder(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tapedeck
