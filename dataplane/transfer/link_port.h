// The half of a Link that lives on a poller of the rail: the offer, then the connection, its frame
// numbers and its pings. One per generation.
#pragma once

#include <atomic>
#include <map>
#include <memory>

#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane {

// A peer that is silent for kLinkSilenceNs is gone: three missed pings. Shorter would mistake a
// stalled scheduler for a dead host.
inline constexpr int64_t kLinkPingNs = kSecondNs;
inline constexpr int64_t kLinkSilenceNs = 3 * kSecondNs;

// An operation that has not completed by then never will (a request can hang without any
// completion). Shorter would break a slow path: eight blocks of 8 MiB take 2.7 s at 24 MB/s.
inline constexpr int64_t kOperationDeadlineNs = 5 * kSecondNs;

// Frames that wait for the session's executor, of one link; about 200 bytes each. Honest ends have
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
  virtual void PortFrame(const LinkPort* port, const Frame& frame,
                         std::span<std::byte> payload) = 0;
  virtual void PortCompleted(const LinkPort* port, uint64_t work) = 0;
};

// Where a port leaves its stamps, and as which link.
struct PortTrail {
  flight::Trail trail;
  size_t link = 0;
};

// On its poller. Shared with the tasks that bring it work.
class LinkPort final : public ConnectionEvents, public std::enable_shared_from_this<LinkPort> {
 public:
  // `events` is told on `owner`, and only while `alive` is.
  LinkPort(Executor& poller, Executor& owner, LinkPortEvents* events, std::weak_ptr<char> alive,
           PortTrail trail = {})
      : poller_(poller), owner_(owner), events_(events), alive_(std::move(alive)), trail_(trail) {}

  // `poller`: the number of its own among the rail's.
  void MakeOffer(Domain& domain, size_t poller);
  void Connect(const Endpoint& peer, int64_t deadline_ns);
  void Close(const absl::Status& cause);

  void Send(Frame frame, std::span<const std::byte> payload, uint64_t work);
  void Write(Frame frame, std::span<const std::byte> payload, RemoteSlice target, uint64_t work);
  void Read(std::span<std::byte> into, RemoteSlice origin, uint64_t work);
  void PostReceive(std::span<std::byte> buffer);

 private:
  void OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection);
  absl::Status Overdue() const;
  void Beat();
  void Down(const absl::Status& cause);
  // The connection has taken a payload, which `work` names.
  void Begin(const Frame* frame, uint64_t work);

  void OnFrame(const Frame& frame, std::span<std::byte> payload) override;
  void OnCompleted(uint64_t work) override;
  void OnClosed(const absl::Status& cause) override { Down(cause); }

  // Runs f(*events_, this) on the owner.
  template <typename F>
  void Tell(F f);

  Executor& poller_;
  Executor& owner_;
  LinkPortEvents* const events_;
  const std::weak_ptr<char> alive_;
  const PortTrail trail_;
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
    bool of_block = false;  // `work` is the block's sequence
  };
  std::map<uint64_t, Started> under_way_;  // operations that complete, by work
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane
