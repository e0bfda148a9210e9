// Where packets come from. A kind of transport is a file beside this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/block/flow.h"
#include "gpu_worker/stages/ingest/packet.h"

namespace tapedeck::gpu_worker::stages::ingest {

// Gets whole packets, or what claims to be some; they are read in the call alone.
using TakePacket = std::function<void(std::span<const std::byte> packet)>;

// Nothing of it waits. One thread.
class PacketSource {
 public:
  virtual ~PacketSource() = default;

  // To be watched for something to read; another one after each Read.
  virtual int fd() const = 0;

  // Gives what is there, but not endlessly. kEnd: nothing will come any more. INVALID_ARGUMENT
  // (PROTOCOL_VIOLATION): what comes is not made of packets.
  virtual absl::StatusOr<dataplane::Flow> Read(const TakePacket& take) = 0;

  // Packets that the kernel had no room for, as far as it has told.
  virtual uint64_t dropped() const { return 0; }
};

struct PacketSourceSettings {
  std::string address;         // HOST:PORT to listen at
  std::string interface;       // of a multicast group; empty: the one that the kernel's routes name
  std::string from;            // its only sender; empty: whoever sends to the group
  uint64_t buffer_bytes = 0;   // of the kernel
  const PacketReader* reader;  // splits a byte stream; outlives the packet source
};

struct OpenedPacketSource {
  std::unique_ptr<PacketSource> packet_source;
  int port = 0;
  uint64_t buffer_bytes = 0;  // that the kernel gave
};

// Packets one behind the other in the bytes of one connection. Nothing is lost by the network: a
// sender that is too fast waits.
namespace tcp {

// Takes one connection; others are refused from then on. UNAVAILABLE says why it cannot listen
// there, and what to do.
absl::StatusOr<OpenedPacketSource> Open(const PacketSourceSettings& settings);

}  // namespace tcp

// Packets as datagrams, many with one call of the kernel.
namespace udp {

// UNAVAILABLE says why nothing can be received there, and what to do.
absl::StatusOr<OpenedPacketSource> Open(const PacketSourceSettings& settings);

}  // namespace udp
}  // namespace tapedeck::gpu_worker::stages::ingest
