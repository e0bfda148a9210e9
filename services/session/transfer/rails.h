// The links of one session: made, offered to the peer, connected, watched, and brought back after a
// failure. The worker initiates: it offers every connection and offers again with back-off what
// fails. The storage node answers each offer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/ladder/ring_fit.h"
#include "dataplane/memory/memory.h"
#include "dataplane/transfer/link.h"
#include "services/session/protocol/messages.h"
#include "services/session/transfer/rails_settings.h"

namespace tapedeck::services::session {

class RailsEvents {
 public:
  virtual ~RailsEvents() = default;
  virtual void OnRailOffer(const RailOffer& offer) = 0;  // to be sent to the peer
  virtual void OnRailsUp() = 0;                          // every link has been up
  // RAIL_UNREACHABLE before OnRailsUp, ALL_RAILS_DOWN after the grace period, RAIL_UNKNOWN,
  // LIMIT_REACHED for too many connections or offers, RAIL_TLS_MISMATCH.
  virtual void OnRailsFailed(const absl::Status& cause) = 0;
  virtual void OnRailsClosed() = 0;  // after Close: no link touches memory any more
};

// With no rail for this long the session ends: long enough for a switch to restart a port, short
// enough that a worker's ring is not held for nothing (facts of the field: hold 10 s).
inline constexpr int64_t kRailGraceNs = 10 * dataplane::kSecondNs;
// The first rail has longer: an honest worker has connected it or given up after 16 s, 12 for an
// answer and 4 for the connection.
inline constexpr int64_t kFirstRailNs = 18 * dataplane::kSecondNs;

// On the session's executor, as are its events.
class Rails final : public dataplane::LinkEvents {
 public:
  // `mover` is the session's Sender or Receiver; `transports` are the rails to use and outlive
  // this.
  Rails(dataplane::Executor& executor, const RailsSettings& settings,
        std::vector<dataplane::Transport*> transports, dataplane::LinkEvents* mover,
        RailsEvents* events);

  // Registers `window` on every rail, unless `registration` already is what is needed; the
  // initiator then offers all connections.
  absl::Status Start(const dataplane::MemoryWindow& window,
                     dataplane::ladder::Registration registration);

  // The peer's offer: to be answered, or the answer to ours.
  void OnPeerOffer(const RailOffer& offer);

  // The transfer is complete: a link that goes down now is no failure.
  void ExpectClose() { close_expected_ = true; }

  void Close(const absl::Status& cause);

  // The window as it is registered, for the rails of another session.
  dataplane::ladder::Registration registration() const;

  bool AnyUp() const;
  bool AnyHasBeenUp() const;

  // By rail, in order.
  std::vector<RailProgress> progress() const;

 private:
  using Key = std::pair<std::string, uint32_t>;  // the initiator's rail name, connection

  struct Port {
    dataplane::Transport* transport;
    std::shared_ptr<dataplane::Domain> domain;  // shared with its links
  };

  struct Entry {
    Key key;
    std::unique_ptr<dataplane::Link> link;
    std::optional<RailOffer> waiting;    // answered once the link is down
    uint32_t failures = 0;               // in a row
    uint64_t turn = 0;                   // of the offer to come
    std::optional<absl::Status> untold;  // why it went down, if that may still be the session's end
    std::string told;                    // of the failure in the log
    bool was_up = false;
    int64_t offers_until_ns = 0;  // what the peer's offers have used up: see MayOffer
  };

  Entry& AddLink(const Port& port, Key key);
  Entry* Find(const dataplane::Link& link);
  void Offer(Entry& entry);
  void Answer(Entry& entry, const RailOffer& peer);
  void SendOffer(const Entry& entry, const dataplane::Endpoint& endpoint);
  absl::StatusOr<Entry*> Resolve(const RailOffer& offer);
  bool MayOffer(Entry& entry);
  void Retry(Entry& entry, const absl::Status& cause);
  void OfferAfter(Entry& entry, int64_t delay_ns);
  void WatchGrace();
  absl::Status AllDown(int64_t limit_ns) const;
  void CheckClosed();

  // Counts and logs why it is down, unless the session ends.
  void TellDown(Entry& entry);

  void OnLinkUp(dataplane::Link& link) override;
  void OnLinkDown(dataplane::Link& link, const absl::Status& cause) override;
  void OnLinkFrame(dataplane::Link& link, const dataplane::Frame& frame,
                   std::span<std::byte> payload) override;
  void OnLinkCompleted(dataplane::Link& link, uint64_t work) override;

  dataplane::Executor& executor_;
  const RailsSettings settings_;
  const std::vector<dataplane::Transport*> transports_;
  dataplane::LinkEvents* const mover_;
  RailsEvents* const events_;
  std::vector<Port> ports_;
  std::vector<std::unique_ptr<Entry>> entries_;
  bool all_were_up_ = false;
  bool close_expected_ = false;
  bool closing_ = false;
  bool closed_ = false;
  bool in_grace_ = false;
  uint64_t grace_ = 0;  // counts the grace periods
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::services::session
