// What a stream of packets is made of, by their kind. A kind is a file beside this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/datatype.h"
#include "gpu_worker/packets/datagrams.h"

namespace tapedeck::gpu_worker::stages::ingest {

using packets::kMaxPacketBytes;

// What is known of the signal from a sample on.
struct SignalChange {
  int64_t position = 0;
  std::string text;

  bool operator==(const SignalChange&) const = default;
};

// One packet as its kind understands it. Positions count samples from the first one at the
// instant asked for or after it, or else from the first one of the first packet that came; below 0
// is what is from before.
struct Packet {
  enum class Is {
    kSamples,
    kContext,    // without samples
    kEarly,      // all its samples are from before the instant
    kEnd,        // of the stream
    kForeign,    // of another stream
    kMalformed,  // no packet of the kind, or not like the others of its stream
  };
  Is is = Is::kMalformed;
  int64_t position = 0;  // of its first sample; kEnd: one more than the stream's last
  std::span<const std::byte> samples = {};  // whole ones; part of the packet
  std::vector<SignalChange> changes;        // of the signal
  std::optional<double> clock_step_s;       // the sender's clock was set before this packet
  std::optional<double> other_rate;         // told of the samples, and not the channel's
  std::optional<uint64_t> other_format;     // the same of VITA 49: see signal_text.h there
  // The stream is to begin at an instant, and cannot: its packets do not say when, in UTC, their
  // samples are of. Position 0 is the first sample of the first packet then.
  bool uncut = false;
};

// Of the stream, before a packet.
struct SoFar {
  int64_t newest = 0;     // one more than the position of the newest sample
  int64_t silent_ns = 0;  // since the last packet that was taken arrived, at most
  double pace = 0;        // samples a second that came at the fastest
};

// Understands the packets of one stream. One thread.
class PacketReader {
 public:
  virtual ~PacketReader() = default;

  // Of packets that follow each other in a stream of bytes: so many of the first bytes tell the
  // size.
  virtual size_t prefix_bytes() const = 0;
  // Of the packet that begins so, prefix and all, at most kMaxPacketBytes; none: nothing of the
  // kind begins so.
  virtual std::optional<size_t> SizeOf(std::span<const std::byte> prefix) const = 0;

  // Whether it says in UTC when its samples are of, so that they can be held against an instant,
  // whenever they come.
  virtual bool TellsUtc(std::span<const std::byte> /*packet*/) const { return false; }

  // Once samples have come: when that of position 0 was captured, UTC, by the packets' own times.
  // None: they do not say it.
  virtual std::optional<int64_t> begin_ns() const { return std::nullopt; }

  // A packet that has come whole, whatever it is.
  virtual Packet Read(std::span<const std::byte> packet, const SoFar& so_far) = 0;
};

struct StreamSettings {
  size_t sample_bytes = 0;
  dataplane::Datatype datatype;    // of the channel, or of what the first transform takes
  double sample_rate = 0;          // of the channel
  int64_t at_ns = 0;               // the first sample is of then or later, UTC; 0: of any time
  bool from_first = false;         // position 0 is the first that comes, not the one of at_ns
  std::optional<uint32_t> stream;  // none: that of the first packet
};

namespace numbered {

std::unique_ptr<PacketReader> CreateReader(const StreamSettings& settings);

}  // namespace numbered

// VITA 49.2.
namespace vita49 {

// Needs a sample rate: positions come from the packets' times.
std::unique_ptr<PacketReader> CreateReader(const StreamSettings& settings);

}  // namespace vita49
}  // namespace tapedeck::gpu_worker::stages::ingest
