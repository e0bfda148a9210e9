// The half of a Link that lives on a poller of the rail: the offer, then the connection, its frame
// numbers and its pings. One per generation.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/transfer/arrival_crcs.h"
#include "dataplane/transfer/batch.h"
#include "dataplane/transfer/port_messages.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane {

// A peer that is silent for kLinkSilenceNs is gone: three missed pings. Shorter would mistake a
// stalled scheduler for a dead host.
inline constexpr int64_t kLinkPingNs = kSecondNs;
inline constexpr int64_t kLinkSilenceNs = 3 * kSecondNs;

// An operation that has not completed by then never will (a request can hang without any
// completion). Shorter would break a slow path: eight blocks of 8 MiB take 2.7 s at 24 MB/s.
inline constexpr int64_t kOperationDeadlineNs = 5 * kSecondNs;

// Frames that wait for the session's executor, of one link; about 250 bytes each. Honest ends have
// fewer under way: the blocks of a lane and kMaxMissingHeld others, or the grants and
// acknowledgements for what the other end holds.
inline constexpr size_t kMaxUntakenFrames = 8192;

class LinkPort;

// What a port tells its Link, posted to the session's executor. `port` tells the generations apart.
class LinkPortEvents {
 public:
  virtual ~LinkPortEvents() = default;
  virtual void PortOffered(const LinkPort* port, absl::StatusOr<Endpoint> endpoint) = 0;
  virtual void PortUp(const LinkPort* port) = 0;
  virtual void PortDown(const LinkPort* port, const absl::Status& cause) = 0;  // last
  virtual void PortHeard(const LinkPort* port, PortEvent event) = 0;
};

struct PortSettings {
  // Where a port leaves its stamps, and as which link.
  flight::Trail trail;
  size_t link = 0;
  // Of what arrives the CRCs are computed by pieces of so many bytes; 0: not at all.
  uint32_t piece_bytes = 0;
};

// On its poller. Shared with the tasks that bring it work.
class LinkPort final : public ConnectionEvents, public std::enable_shared_from_this<LinkPort> {
 public:
  // `events` is told on `owner`, and only while `alive` is.
  LinkPort(Executor& poller, Executor& owner, LinkPortEvents* events, std::weak_ptr<char> alive,
           const PortSettings& settings);

  // `poller`: the number of its own among the rail's.
  void MakeOffer(Domain& domain, size_t poller);
  void Connect(const Endpoint& peer, int64_t deadline_ns);
  void Close(const absl::Status& cause);

  // In order.
  void Do(const std::vector<PortWork>& work);

 private:
  void OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection);
  absl::Status Overdue() const;
  void Beat();
  void Down(const absl::Status& cause);
  void Do(const PortWork& work);
  void Send(Frame frame, std::span<const std::byte> payload, uint64_t work);
  void Write(const PortWork& work);
  void Read(const PortWork& work);
  // The connection has taken a payload, which `work` names.
  void Begin(const Frame* frame, uint64_t work, std::span<std::byte> into = {});
  std::span<std::byte> Granted(const Frame& frame);
  void Hear(PortEvent event, std::span<std::byte> arrived);
  void Deliver(std::vector<PortEvent> events);

  void OnFrame(const Frame& frame, std::span<std::byte> payload) override;
  void OnArriving(std::span<const std::byte> more) override;
  void OnCompleted(uint64_t work) override;
  void OnClosed(const absl::Status& cause) override { Down(cause); }

  // Runs f(*events_, this) on the owner, after all that was heard before.
  template <typename F>
  void Tell(F f);

  Executor& poller_;
  Executor& owner_;
  LinkPortEvents* const events_;
  const std::weak_ptr<char> alive_;
  const PortSettings settings_;
  std::unique_ptr<Offer> offer_;
  std::unique_ptr<Connection> connection_;
  bool down_ = false;
  uint32_t next_sent_ = 0;
  uint32_t next_received_ = 0;
  int64_t last_heard_ns_ = 0;
  // Shared with the tasks that carry the frames.
  const std::shared_ptr<std::atomic<size_t>> untaken_ = std::make_shared<std::atomic<size_t>>(0);
  struct Started {
    int64_t since_ns = 0;
    bool of_block = false;      // `work` is the block's sequence
    std::span<std::byte> into;  // of a read
  };
  std::map<uint64_t, Started> under_way_;  // operations that complete, by work
  // Slots that the peer may write into; kept only where CRCs are computed.
  std::map<uint32_t, std::span<std::byte>> granted_;
  std::optional<ArrivingPayload> arriving_;  // where CRCs are computed
  Batch<PortEvent> heard_;
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane
