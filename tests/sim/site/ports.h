// A network of modelled ports under the inproc transport: each is full duplex, carries so many
// bytes a second each way, and what finds it busy waits in line. Nothing is lost in between, as in
// a lossless Ethernet whose switch never blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/inproc/fabric.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::sim {

// 25.78125 GBd × 64/66, before the framing of RoCEv2.
inline constexpr uint64_t kPortBytesPerS = 3'125'000'000;
inline constexpr int64_t kCableNs = 5'000;  // between any two ports, with the switch

// On the wire, of a message of so many bytes in packets of 4096: preamble, Ethernet, IPv4, UDP,
// BTH, ICRC, FCS and gap of each packet, and the largest header of an operation.
constexpr uint64_t WireBytes(uint64_t bytes) {
  constexpr uint64_t kMtu = 4096;
  constexpr uint64_t kPerPacket = 82;
  constexpr uint64_t kPerMessage = 16;
  const uint64_t packets = bytes == 0 ? 1 : (bytes + kMtu - 1) / kMtu;
  return bytes + kPerPacket * packets + kPerMessage;
}

// One thread; lives on `executor`.
class Port {
 public:
  explicit Port(dataplane::Executor& executor) : executor_(executor) {}

  // Runs `arrived` on `there` once the last bit of a message has come to `to`. What waits takes
  // turns, one message of each connection, as a NIC does with its queue pairs.
  void Carry(uint64_t connection, Port& to, uint64_t bytes, dataplane::Executor& there,
             dataplane::Task arrived);

  uint64_t sent_bytes() const { return sent_bytes_; }  // on the wire
  uint64_t received_bytes() const { return received_bytes_; }

 private:
  struct Message {
    Port* to;
    uint64_t bytes;
    dataplane::Executor* there;
    dataplane::Task arrived;
  };
  void SendNext();

  dataplane::Executor& executor_;
  std::map<uint64_t, std::deque<Message>> waiting_;  // by connection
  uint64_t turn_ = 0;                                // connection that had it last
  bool busy_ = false;
  int64_t free_ns_ = 0;  // to receive
  uint64_t sent_bytes_ = 0;
  uint64_t received_bytes_ = 0;
  dataplane::Lifetime lifetime_;
};

// Which port an offer's connection begins at. One thread; outlives its transports.
class Ports {
 public:
  // A byte of payload stands for `scale` bytes.
  explicit Ports(uint64_t scale)
      : scale_(scale), fabric_(std::make_shared<dataplane::inproc::Fabric>()) {}

  // `port` outlives it.
  std::unique_ptr<dataplane::Transport> NewRail(const std::string& name, Port& port,
                                                dataplane::Executor& poller);

  uint64_t scale() const { return scale_; }
  uint64_t NewConnection() { return ++connections_; }
  void Note(const dataplane::Endpoint& endpoint, Port& port);
  // Null: no offer of this network.
  Port* Find(const dataplane::Endpoint& endpoint) const;

 private:
  const uint64_t scale_;
  const std::shared_ptr<dataplane::inproc::Fabric> fabric_;
  std::map<uint64_t, Port*> ports_;  // by ID of the offer
  uint64_t connections_ = 0;
};

}  // namespace tapedeck::sim
