// A Link is one connection of a rail as a session sees it. It lives on the session's executor, its
// connection on one of the rail's pollers, and the two post to each other. A link outlives its
// connections: after a failure the session can offer it again, with the next generation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "dataplane/block/frame.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transfer/arrival_crcs.h"
#include "dataplane/transfer/batch.h"
#include "dataplane/transfer/lane_depth.h"
#include "dataplane/transfer/link_port.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane {

class Link;

// Called on the session's executor, never inside a Link call.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  virtual void OnLinkUp(Link& link) = 0;
  // The connection is gone and touches no memory any more; its unfinished work will not complete.
  // Also comes when an attempt to connect fails.
  virtual void OnLinkDown(Link& link, const absl::Status& cause) = 0;
  virtual void OnLinkFrame(Link& link, const Frame& frame, std::span<std::byte> payload) = 0;
  virtual void OnLinkCompleted(Link& link, uint64_t work) = 0;
};

struct LinkTraffic {
  uint64_t blocks = 0;
  uint64_t bytes = 0;
};

class Link final : private LinkPortEvents {
 public:
  // `index` counts the links of a session; `connection` those of a rail.
  Link(Executor& executor, Transport& transport, std::shared_ptr<Domain> domain, size_t index,
       uint32_t connection, LinkEvents* events);
  ~Link() override;

  // What connections made from now on leave stamps in.
  void SetTrail(flight::Trail trail) { trail_ = trail; }

  // Of what arrives over connections made from now on the poller computes the check values, which
  // are there before OnLinkFrame or OnLinkCompleted.
  void SetArrivals(std::shared_ptr<ArrivalCrcs> arrivals) { arrivals_ = std::move(arrivals); }

  // Starts the next generation; only while down. `done` gets the endpoint for the peer, on the
  // executor.
  void MakeOffer(std::function<void(absl::StatusOr<Endpoint>)> done);

  // Connects the latest offer. The outcome is OnLinkUp or OnLinkDown.
  void Connect(const Endpoint& peer, const RemoteWindow& peer_window, int64_t deadline_ns);

  // As in Connection; offsets are into the peer's window. Dropped while the link is not up.
  void Send(const Frame& frame, std::span<const std::byte> payload, uint64_t work);
  void Write(const Frame& frame, std::span<const std::byte> payload, uint64_t offset,
             uint64_t work);
  void Read(std::span<std::byte> into, uint64_t offset, uint64_t work);
  // Sends `frame`, which says that a slot is free: for the payload of one Send, or to be written
  // into.
  void GrantReceive(const Frame& frame, std::span<std::byte> slot);
  void GrantWrite(const Frame& frame, std::span<std::byte> slot);

  // Ends the connection or the attempt; OnLinkDown follows unless the link is down already.
  void Close(const absl::Status& cause);

  bool offered() const { return state_ == State::kOffered; }  // and not answered yet
  bool up() const { return state_ == State::kUp; }
  bool down() const { return state_ == State::kDown; }
  size_t index() const { return index_; }
  uint32_t connection() const { return connection_; }
  uint32_t generation() const { return generation_; }
  const RailDescription& rail() const { return transport_.rail(); }
  RemoteWindow local_window() const { return domain_->remote_window(); }
  const absl::Status& last_failure() const { return last_failure_; }

  // Blocks that arrived over this link, counted by the Sender or Receiver; the rail counts them,
  // too.
  void CountSent(uint64_t bytes) { Count(bytes, meter().sent); }
  void CountReceived(uint64_t bytes) { Count(bytes, meter().received); }
  const LinkTraffic& traffic() const { return traffic_; }
  RailMeter& meter() { return transport_.meter(); }

 private:
  enum class State { kDown, kOffered, kConnecting, kUp, kClosing };

  void Become(State state);
  void Count(uint64_t bytes, RailMeter::Traffic& rail) {
    ++traffic_.blocks;
    traffic_.bytes += bytes;
    rail.Count(bytes);
  }

  Executor& poller() const { return *transport_.pollers()[poller_]; }

  void Ask(const PortWork& work, size_t payload_bytes);
  void LetGoOfPort();

  // Runs f(port) on the poller, after all that was asked before.
  template <typename F>
  void OnPoller(F f);

  void PortOffered(const LinkPort* port, absl::StatusOr<Endpoint> endpoint) override;
  void PortUp(const LinkPort* port) override;
  void PortDown(const LinkPort* port, const absl::Status& cause) override;
  void PortHeard(const LinkPort* port, PortEvent event) override;

  Executor& executor_;
  Transport& transport_;
  const size_t poller_;                   // of the rail's; of every generation
  const std::shared_ptr<Domain> domain_;  // shared by the links of one rail and session
  const size_t index_;
  const uint32_t connection_;
  LinkEvents* const events_;
  flight::Trail trail_;
  std::shared_ptr<ArrivalCrcs> arrivals_;  // null: nobody checks. Shared by the links of a session

  State state_ = State::kDown;
  uint32_t generation_ = 0;
  RemoteWindow peer_window_;
  std::function<void(absl::StatusOr<Endpoint>)> on_offer_;
  absl::Status last_failure_;
  LinkTraffic traffic_;
  std::shared_ptr<LinkPort> port_;  // shared with the tasks posted to the poller, where it ends
  Batch<PortWork> asked_;
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane
