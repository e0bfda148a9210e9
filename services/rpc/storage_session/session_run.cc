#include "services/rpc/storage_session/session_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/list.h"
#include "services/base/errors.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/storage_client/dialer.h"

namespace tapedeck::services::storage_session {
namespace {

// Enough for a rail of 100 Gb/s, and no more than a laptop has.
constexpr uint64_t kRingBytes = 64 << 20;
constexpr uint64_t kMinSlots = 8;
constexpr uint64_t kMaxSlots = 128;

// Opening waits for the node's disks, which say every second that they are at it.
constexpr absl::Duration kBeginPatience = absl::Minutes(11);
// Of a session that is told to end: the farewell, and what the node seals.
constexpr absl::Duration kFarewellPatience = absl::Seconds(70);

// The connection leaves by whatever port leads to the node.
std::string AnyAddressLike(const std::string& address) {
  return absl::StrContains(address, ':') ? "::" : "0.0.0.0";
}

std::vector<NodeRail> RailsOfTcp(const std::vector<NodeRail>& rails) {
  std::vector<NodeRail> found;
  std::ranges::copy_if(rails, std::back_inserter(found),
                       [](const NodeRail& one) { return one.rail.transport == "tcp"; });
  return found;
}

}  // namespace

absl::StatusOr<std::shared_ptr<dataplane::MemoryPool>> MakeRing(uint64_t block_bytes) {
  const uint64_t slots = std::clamp(kRingBytes / block_bytes, kMinSlots, kMaxSlots);
  TD_ASSIGN_OR_RETURN(auto memory, dataplane::host::Create(slots * block_bytes));
  return dataplane::MemoryPool::Create(std::move(memory), block_bytes);
}

absl::Status Stalled(absl::string_view text) {
  return WithReason(absl::DeadlineExceededError(text), "SESSION_STALLED", {{"phase", "move"}});
}

absl::StatusOr<std::unique_ptr<SessionRun>> SessionRun::Begin(const Peer& peer,
                                                              const Settings& settings) {
  const std::vector<NodeRail> all = RailsOfTcp(peer.rails);
  if (all.empty()) {
    return RailUnknown("tcp",
                       absl::StrCat("storage node ", peer.address,
                                    " has no TCP rail, the only kind that this program uses"));
  }
  absl::Status failure;
  std::vector<std::vector<NodeRail>> tries = {all};
  if (all.size() > 1) {
    for (const NodeRail& one : all) tries.push_back({one});
  }
  for (const std::vector<NodeRail>& rails : tries) {
    auto run = std::unique_ptr<SessionRun>(new SessionRun());
    const absl::Status status = run->Start(peer, rails, settings);
    if (status.ok()) return run;
    if (failure.ok()) failure = status;
    const auto reason = ReasonOf(status);
    if (!reason.has_value() || reason->reason != "RAIL_UNREACHABLE") return status;
  }
  return failure;
}

absl::Status SessionRun::MakeRails(const std::vector<NodeRail>& rails) {
  for (const NodeRail& theirs : rails) {
    TD_ASSIGN_OR_RETURN(pollers_.emplace_back(), dataplane::EventLoop::Create("rail"));
    TD_ASSIGN_OR_RETURN(rails_.emplace_back(),
                        dataplane::CreateTransport({.name = theirs.rail.name,
                                                    .kind = "tcp",
                                                    .address = AnyAddressLike(theirs.rail.address),
                                                    .tls = theirs.rail.tls},
                                                   {pollers_.back().get()}));
  }
  return absl::OkStatus();
}

absl::Status SessionRun::Start(const Peer& peer, const std::vector<NodeRail>& rails,
                               const Settings& settings) {
  TD_ASSIGN_OR_RETURN(loop_, dataplane::EventLoop::Create("session"));
  TD_RETURN_IF_ERROR(MakeRails(rails));
  dialer_ = storage_client::MakeStorageDialer(peer.credentials);
  storage_ = dialer_->Dial(peer.address, peer.trace, peer.credentials.acting_for);
  on_ended_ = settings.on_ended;
  session::ClientSessionSettings made{
      .node = peer.address,
      .open = settings.open,
      .ordered = settings.ordered,
      .trace = peer.trace,
      .make_end = [make = settings.make_end](const session::Accept& accept)
          -> absl::StatusOr<session::TransferEnd> { return make(accept); }};
  made.open.recorder = "tapectl";
  made.open.request_id = client::NewRequestId();
  made.open.slots = static_cast<uint32_t>(settings.ring->slots());
  made.open.slot_bytes = settings.ring->slot_bytes();
  for (const auto& rail : rails_) made.transports.push_back(rail.get());
  loop_->RunAndWait([&] {
    session_ =
        std::make_unique<session::ClientSession>(*loop_, std::move(made), storage_->OpenSession());
    session_->Start([this](const session::Snapshot& now) { OnChange(now); });
  });
  absl::MutexLock lock(&mutex_);
  const auto begun = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return snapshot_.running || snapshot_.ended;
  };
  dataplane::AwaitFor(mutex_, absl::Condition(&begun), kBeginPatience);
  if (snapshot_.running) return absl::OkStatus();
  if (!snapshot_.error.ok()) return snapshot_.error;
  return NodeUnreachable(peer.address,
                         absl::StrCat("storage node ", peer.address, " has not begun a session"));
}

void SessionRun::OnChange(const session::Snapshot& snapshot) {
  {
    absl::MutexLock lock(&mutex_);
    snapshot_ = snapshot;
  }
  // Who hears of it finds why.
  if (snapshot.ended && snapshot.running) on_ended_();
}

absl::Status SessionRun::End(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  const auto over = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return snapshot_.ended; };
  if (dataplane::AwaitFor(mutex_, absl::Condition(&over), patience)) return snapshot_.error;
  return absl::DeadlineExceededError("the session has not ended");
}

SessionRun::~SessionRun() {
  if (session_ == nullptr) return;
  loop_->RunAndWait([this] { session_->Stop(); });
  (void)End(kFarewellPatience);
  loop_->RunAndWait([this] { session_.reset(); });
}

session::Accept SessionRun::accept() const { return snapshot().accept; }

session::Snapshot SessionRun::snapshot() const {
  absl::MutexLock lock(&mutex_);
  return snapshot_;
}

bool SessionRun::ended() const {
  absl::MutexLock lock(&mutex_);
  return snapshot_.ended;
}

}  // namespace tapedeck::services::storage_session
