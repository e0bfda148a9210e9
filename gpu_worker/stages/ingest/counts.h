// What came of a stream, and what did not.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "services/model/words/note.h"

namespace tapedeck::gpu_worker::stages::ingest {

// Why a stream has ended well.
enum class Ending { kNone, kMark, kClosed, kSilence, kStopped };

// Any thread. Written by the receiving thread, but for the last three, which the source writes.
struct Counts {
  std::atomic<uint64_t> packets = 0;  // whatever they were
  std::atomic<uint64_t> samples = 0;
  std::atomic<uint64_t> repeated = 0;
  std::atomic<uint64_t> late = 0;
  std::atomic<uint64_t> early = 0;         // packets from before the instant
  std::atomic<bool> uncut = false;         // see Packet
  std::atomic<uint64_t> out_of_place = 0;  // see Jumps
  std::atomic<uint64_t> restarts = 0;      // of the sender's count
  std::atomic<uint64_t> clock_sets = 0;    // of the sender's clock
  std::atomic<double> other_rate = 0;      // that the sender told last, where not the channel's
  std::atomic<uint64_t> other_format = 0;  // the same, of VITA 49
  std::atomic<double> seen_rate = 0;       // of samples that came, where not the channel's
  std::atomic<uint64_t> scattered = 0;
  std::atomic<uint64_t> foreign = 0;
  std::atomic<uint64_t> malformed = 0;
  std::atomic<Ending> ending = Ending::kNone;
  std::atomic<uint64_t> untold = 0;        // signal changes, for want of room
  std::atomic<uint64_t> dropped = 0;       // by the kernel
  std::atomic<uint64_t> lost_samples = 0;  // those of lost blocks, too
  std::atomic<uint64_t> lost_places = 0;   // in blocks that are there
  std::atomic<uint64_t> lost_blocks = 0;
};

// "ingest: packets 7, samples 1024; lost samples 0, in 0 places and 0 blocks; ...".
std::string TextOf(const Counts& counts);

// How many samples a second came, by the steady clock, where the channel's rate is another one. 0:
// they differ by 1 % or 100 ms at most, which networks and queues do as well.
double OtherPace(int64_t samples, int64_t passed_ns, double sample_rate);

// The same, with a fact of each.
services::Note NoteOf(const Counts& counts);

// "ingest: 24000 samples/s came, ...". `sample_rate` is the channel's. None: as it says.
std::optional<services::Note> PaceNoteOf(const Counts& counts, double sample_rate);

// "ingest: ended: the sender marked the end". `timeout_ns` is how long a silence was. None: not so.
std::optional<services::Note> EndNoteOf(Ending ending, int64_t timeout_ns);

}  // namespace tapedeck::gpu_worker::stages::ingest
