#include "services/session/transfer/rails.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/rail_tls.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/trace/context.h"
#include "services/session/transfer/rail_failure.h"

namespace tapedeck::services::session {

using dataplane::Endpoint;
using dataplane::Link;
using dataplane::LogLevel;

namespace {

// From the peer's answer on. A connection that is not there by then counts as unreachable. A second
// attempt is given less: it must not wait out a dead port that has come back meanwhile. Both leave
// room for one lost SYN (1 s).
constexpr int64_t kConnectDeadlineNs = 4 * dataplane::kSecondNs;
constexpr int64_t kReconnectDeadlineNs = 2 * dataplane::kSecondNs;
// The first answer to an offer comes from a peer whose session is alive, or its silence ends that:
// it may be as slow as its machine is busy.
constexpr int64_t kAnswerDeadlineNs = 12 * dataplane::kSecondNs;

// How long a peer's word that the session has ended may take: it comes by another connection than
// the rail's end.
constexpr int64_t kPeersWordNs = 2 * dataplane::kSecondNs;

// What a peer may ask of the end that answers: so many connections of one rail, and offers of each
// connection this often in the long run, so many at once. An offer costs a token and timers of some
// seconds; an honest worker makes one in 250 ms ∓ 25 %.
constexpr uint32_t kMaxConnections = 8;
constexpr int64_t kOfferEveryNs = 125 * dataplane::kMillisecondNs;
constexpr int64_t kOffersAtOnce = 32;

int64_t AnswerDeadline(bool was_up) { return was_up ? kReconnectDeadlineNs : kAnswerDeadlineNs; }
int64_t ConnectDeadline(bool was_up) { return was_up ? kReconnectDeadlineNs : kConnectDeadlineNs; }

}  // namespace

Rails::Rails(dataplane::Executor& executor, const RailsSettings& settings,
             std::vector<dataplane::Transport*> transports, dataplane::LinkEvents* mover,
             RailsEvents* events)
    : executor_(executor),
      settings_(settings),
      transports_(std::move(transports)),
      mover_(mover),
      events_(events) {}

absl::Status Rails::Start(const dataplane::MemoryWindow& window,
                          dataplane::ladder::Registration registration) {
  // The peer has chosen another transfer op than was expected: never keep more rights than needed.
  if (registration.access != settings_.access) registration.domains.clear();
  for (size_t i = registration.domains.size(); i < transports_.size(); ++i) {
    TD_ASSIGN_OR_RETURN(std::shared_ptr<dataplane::Domain> domain,
                        transports_[i]->OpenDomain(window, settings_.access));
    registration.domains.push_back(std::move(domain));
  }
  for (size_t i = 0; i < transports_.size(); ++i) {
    ports_.push_back({transports_[i], std::move(registration.domains[i])});
  }
  WatchGrace();
  if (!settings_.initiate) return absl::OkStatus();
  for (const Port& port : ports_) {
    for (uint32_t i = 0; i < settings_.connections_per_rail; ++i) {
      AddLink(port, {port.transport->rail().name, i});
    }
  }
  for (const auto& entry : entries_) Offer(*entry);
  return absl::OkStatus();
}

Rails::Entry& Rails::AddLink(const Port& port, Key key) {
  auto entry = std::make_unique<Entry>();
  entry->link = std::make_unique<Link>(executor_, *port.transport, port.domain, entries_.size(),
                                       key.second, this);
  if (settings_.trail != nullptr) {
    entry->link->SetTrail(settings_.trail->trail());
    settings_.trail->AddLink(entries_.size(), key.first);
  }
  entry->link->SetArrivals(settings_.arrivals);
  entry->key = std::move(key);
  return *entries_.emplace_back(std::move(entry));
}

// An entry stays as long as this, so that a link's index is its place.
Rails::Entry* Rails::Find(const Link& link) { return entries_[link.index()].get(); }

void Rails::Offer(Entry& entry) {
  entry.link->MakeOffer([this, &entry](const absl::StatusOr<Endpoint>& endpoint) {
    if (endpoint.ok()) SendOffer(entry, *endpoint);
  });
  // No answer within the deadline is a failed attempt, too; after one Connect has its own.
  executor_.PostAfter(AnswerDeadline(entry.was_up),
                      lifetime_.Guard([&entry, generation = entry.link->generation()] {
                        if (entry.link->generation() == generation && entry.link->offered()) {
                          entry.link->Close(absl::DeadlineExceededError(
                              absl::StrCat("rail ", entry.key.first, ": no answer from the peer")));
                        }
                      }));
}

void Rails::SendOffer(const Entry& entry, const Endpoint& endpoint) {
  settings_.trace->Connecting(entry.key.first, entry.key.second);
  events_->OnRailOffer({.rail = entry.key.first,
                        .connection = entry.key.second,
                        .generation = entry.link->generation(),
                        .endpoint = endpoint,
                        .window = entry.link->local_window()});
}

void Rails::OnPeerOffer(const RailOffer& offer) {
  if (closing_) return;
  // What the peer asks for and may not have is no failure of a link: the session ends.
  const absl::StatusOr<Entry*> entry = Resolve(offer);
  if (!entry.ok()) return events_->OnRailsFailed(entry.status());
  if (!settings_.initiate && !MayOffer(**entry)) {
    return events_->OnRailsFailed(
        LimitReached(kOffersAtOnce, "rail offers",
                     absl::StrCat("rail ", offer.rail, ": more than ", kOffersAtOnce,
                                  " offers of one connection at once")));
  }
  Link& link = *(*entry)->link;
  if (Encrypts(offer.endpoint) != link.rail().tls) {
    return events_->OnRailsFailed(dataplane::RailTlsMismatch(offer.rail, link.rail().tls));
  }
  if (!settings_.initiate) {
    if (!link.down()) {
      // The peer has noticed a failure first. The offer waits until this end's memory is free of
      // the old connection: a late write of it must not hit a slot that the new one was given.
      (*entry)->waiting = offer;
      return link.Close(absl::UnavailableError("the peer connects this rail again"));
    }
    return Answer(**entry, offer);
  }
  if (offer.generation != link.generation()) return;  // answers an attempt that was given up
  link.Connect(offer.endpoint, offer.window,
               executor_.clock().NowNs() + ConnectDeadline((*entry)->was_up));
}

// Each offer uses up some time, which comes back as it passes.
bool Rails::MayOffer(Entry& entry) {
  const int64_t now_ns = executor_.clock().NowNs();
  entry.offers_until_ns = std::max(entry.offers_until_ns, now_ns) + kOfferEveryNs;
  return entry.offers_until_ns - now_ns <= kOffersAtOnce * kOfferEveryNs;
}

void Rails::Answer(Entry& entry, const RailOffer& peer) {
  entry.link->MakeOffer([this, &entry, peer](const absl::StatusOr<Endpoint>& endpoint) {
    if (!endpoint.ok()) return;
    settings_.trace->Connecting(entry.key.first, entry.key.second);
    RailOffer answer{.rail = peer.rail,
                     .connection = peer.connection,
                     .generation = peer.generation,
                     .endpoint = *endpoint,
                     .window = entry.link->local_window()};
    events_->OnRailOffer(answer);
    entry.link->Connect(peer.endpoint, peer.window,
                        executor_.clock().NowNs() + ConnectDeadline(entry.was_up));
  });
}

// The link an offer is about. The node pairs the worker's rails with its own by name, else in the
// order in which they are first offered.
absl::StatusOr<Rails::Entry*> Rails::Resolve(const RailOffer& offer) {
  const Key key{offer.rail, offer.connection};
  size_t rails_seen = 0;
  const Port* same_rail = nullptr;
  std::string last_rail;
  for (const auto& entry : entries_) {
    if (entry->key == key) return entry.get();
    if (entry->key.first == offer.rail) {
      same_rail = &*std::ranges::find(ports_, entry->link->rail().name,
                                      [](const Port& p) { return p.transport->rail().name; });
    }
    if (entry->key.first != last_rail) ++rails_seen;
    last_rail = entry->key.first;
  }
  const auto named =
      std::ranges::find(ports_, offer.rail, [](const Port& p) { return p.transport->rail().name; });
  const Port* port = same_rail;
  if (port == nullptr && named != ports_.end()) port = &*named;
  if (port == nullptr && rails_seen < ports_.size()) port = &ports_[rails_seen];
  if (settings_.initiate || port == nullptr || offer.connection >= kMaxConnections) {
    return RailUnknown(offer.rail, absl::StrCat("rail ", offer.rail, ", connection ",
                                                offer.connection, ": this end has no such rail"));
  }
  // A rail may go by two names, and each of them has connections.
  if (const size_t most = kMaxConnections * ports_.size(); entries_.size() >= most) {
    return LimitReached(
        most, "connections of a session",
        absl::StrCat("rail ", offer.rail, ": the session has ", most, " connections already"));
  }
  return &AddLink(*port, key);
}

void Rails::OnLinkUp(Link& link) {
  const telemetry::trace::LogUnder log(settings_.trace->context());
  in_grace_ = false;
  Entry& entry = *Find(link);
  TellDown(entry);
  entry.failures = 0;
  entry.told.clear();
  entry.was_up = true;
  settings_.trace->Up(entry.key.first, entry.key.second);
  dataplane::Log(LogLevel::kInfo, "session", "rail up",
                 {{"rail", link.rail().name}, {"generation", absl::StrCat(link.generation())}});
  mover_->OnLinkUp(link);
  if (all_were_up_ || !std::ranges::all_of(entries_, [](const auto& e) { return e->was_up; })) {
    return;
  }
  all_were_up_ = true;
  events_->OnRailsUp();
}

void Rails::OnLinkDown(Link& link, const absl::Status& cause) {
  const telemetry::trace::LogUnder log(settings_.trace->context());
  // Always: blocks of this link are to go over another one, or back to their owner.
  mover_->OnLinkDown(link, cause);
  if (closing_) return CheckClosed();
  if (close_expected_) return;
  Entry& entry = *Find(link);
  entry.untold = cause;
  if (settings_.peer_ends) {
    executor_.PostAfter(kPeersWordNs, lifetime_.Guard([this, &entry] { TellDown(entry); }));
  } else {
    TellDown(entry);
  }
  if (std::optional<RailOffer> waiting = std::exchange(entry.waiting, std::nullopt)) {
    Answer(entry, *waiting);
  } else if (settings_.initiate && !entry.was_up) {
    // A rail that was asked for and never worked is a mistake to be told, not a fault to sit out.
    const std::function<void()> fail = lifetime_.Guard([this, failure = Unreachable(link, cause)] {
      if (!closing_ && !close_expected_) events_->OnRailsFailed(failure);
    });
    // A node that knows the token no more has ended the session, and why it did is on its way.
    if (absl::IsUnauthenticated(cause)) return executor_.PostAfter(kPeersWordNs, fail);
    return fail();
  } else if (settings_.initiate) {
    Retry(entry, cause);
  }
  WatchGrace();
}

void Rails::TellDown(Entry& entry) {
  const std::optional<absl::Status> cause = std::exchange(entry.untold, std::nullopt);
  if (!cause.has_value() || closing_ || close_expected_) return;
  const telemetry::trace::LogUnder log(settings_.trace->context());
  ++entry.link->meter().failures;
  // A port that stays away fails again and again with the same words.
  std::string why(cause->message());
  if (entry.told == why) return;
  dataplane::Log(LogLevel::kWarning, "session", "rail down",
                 {{"rail", entry.link->rail().name}, {"cause", why}});
  settings_.trace->Down(entry.key.first, entry.key.second, *cause);
  entry.told = std::move(why);
}

void Rails::Retry(Entry& entry, const absl::Status& cause) {
  const uint32_t failures = PortIsAway(cause) ? 0 : entry.failures++;
  OfferAfter(entry, RetryDelayNs(*entry.link, failures, AnyUp()));
}

void Rails::OfferAfter(Entry& entry, int64_t delay_ns) {
  // The turn: only the last one that was arranged is made.
  executor_.PostAfter(delay_ns, lifetime_.Guard([this, &entry, turn = ++entry.turn] {
    if (!closing_ && turn == entry.turn && entry.link->down()) Offer(entry);
  }));
}

// Starts the grace period if no link is up.
void Rails::WatchGrace() {
  if (AnyUp() || std::exchange(in_grace_, true)) return;
  // Those that wait out a back-off may be back.
  for (const auto& entry : entries_) {
    if (settings_.initiate && entry->was_up && entry->link->down()) {
      OfferAfter(*entry, RetryDelayNs(*entry->link, 0, /*others_up=*/false));
    }
  }
  const int64_t limit_ns = AnyHasBeenUp() ? kRailGraceNs : kFirstRailNs;
  executor_.PostAfter(limit_ns, lifetime_.Guard([this, limit_ns, grace = ++grace_] {
    if (closing_ || close_expected_ || grace != grace_ || !in_grace_) return;
    events_->OnRailsFailed(AllDown(limit_ns));
  }));
}

absl::Status Rails::AllDown(int64_t limit_ns) const {
  std::string causes = entries_.empty() ? "none was offered" : "";
  for (const auto& entry : entries_) {
    absl::StrAppend(&causes, causes.empty() ? "" : "; ", entry->key.first, ": ",
                    std::string(entry->link->last_failure().message()));
  }
  return WithReason(absl::UnavailableError(absl::StrCat(
                        "no rail for ", limit_ns / dataplane::kSecondNs, " s: ", causes)),
                    "ALL_RAILS_DOWN");
}

dataplane::ladder::Registration Rails::registration() const {
  dataplane::ladder::Registration registration{.access = settings_.access};
  for (const Port& port : ports_) registration.domains.push_back(port.domain);
  return registration;
}

bool Rails::AnyUp() const {
  return std::ranges::any_of(entries_, [](const auto& entry) { return entry->link->up(); });
}

bool Rails::AnyHasBeenUp() const {
  return std::ranges::any_of(entries_, [](const auto& entry) { return entry->was_up; });
}

void Rails::Close(const absl::Status& cause) {
  if (closing_) return;
  closing_ = true;
  for (const auto& entry : entries_) entry->link->Close(cause);
  // Of links that are down already no word comes.
  executor_.Post(lifetime_.Guard([this] { CheckClosed(); }));
}

void Rails::CheckClosed() {
  if (closed_ || !std::ranges::all_of(entries_, [](const auto& e) { return e->link->down(); }))
    return;
  closed_ = true;
  // Posted: the owner may destroy this.
  executor_.Post(lifetime_.Guard([this] { events_->OnRailsClosed(); }));
}

std::vector<RailProgress> Rails::progress() const {
  std::vector<RailProgress> rails;
  for (const auto& entry : entries_) {
    auto it = std::ranges::find(rails, entry->key.first, &RailProgress::name);
    if (it == rails.end()) it = rails.insert(rails.end(), {.name = entry->key.first, .up = true});
    it->blocks += entry->link->traffic().blocks;
    it->bytes += entry->link->traffic().bytes;
    it->up = it->up && entry->link->up();
    if (!close_expected_ && !entry->link->last_failure().ok()) {
      it->cause = std::string(entry->link->last_failure().message());
    }
  }
  return rails;
}

void Rails::OnLinkFrame(Link& link, const dataplane::Frame& frame, std::span<std::byte> payload) {
  mover_->OnLinkFrame(link, frame, payload);
}

void Rails::OnLinkCompleted(Link& link, uint64_t work) { mover_->OnLinkCompleted(link, work); }

}  // namespace tapedeck::services::session
