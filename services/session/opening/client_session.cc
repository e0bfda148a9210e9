#include "services/session/opening/client_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/session/opening/loss.h"
#include "services/session/protocol/check.h"
#include "services/session/protocol/violation.h"

namespace tapedeck::services::session {
namespace {

constexpr int64_t kReportNs = 100 * dataplane::kMillisecondNs;

// The node answers Open at once, or says every second what it still has to do, or its connection
// shows that it lives; not for ever. Looks of this end count, not time: while this end itself does
// not get to run, the node may have answered.
constexpr int kMostSilentLooks = static_cast<int>(5 * dataplane::kSecondNs / kReportNs);
constexpr int64_t kOpeningLimitNs = 600 * dataplane::kSecondNs;

// After the last block the node flushes and seals. A member that needs longer is as good as gone.
constexpr int64_t kSealDeadlineNs = 60 * dataplane::kSecondNs;

// How often the node hears from this end, which is how it knows a worker without rails from none,
// and how often the clocks are compared: in half of it they drift apart by 0.06 ms at most.
constexpr int64_t kTellNs = dataplane::kSecondNs / 4;

// As a session begins the clocks are compared so often, one after the other: of a few round trips
// the least is close to what the network takes.
constexpr int kFirstReadings = 8;

absl::Status UnexpectedFromNode(absl::string_view message) {
  return UnexpectedMessage("the storage node", message);
}

}  // namespace

ClientSession::ClientSession(dataplane::Executor& executor, ClientSessionSettings settings,
                             std::unique_ptr<ControlStream> control)
    : executor_(executor),
      settings_(std::move(settings)),
      control_(std::move(control)),
      trace_(settings_.trace, settings_.open.direction) {}

void ClientSession::Start(OnChange on_change) {
  on_change_ = std::move(on_change);
  start_ns_ = heard_ns_ = executor_.clock().NowNs();
  control_->Start(this, &executor_);
  trace_.Step("open");
  Open open = settings_.open;
  open.traceparent = trace_.context().Traceparent();
  open.tracestate = trace_.context().state;
  control_->Send(open);
  Tick();
}

// Whether the node has answered nothing for too long.
void ClientSession::LookAtOpening() {
  if (state_ != State::kOpening) return;
  const bool over = executor_.clock().NowNs() - start_ns_ >= kOpeningLimitNs;
  if (!over && silent_looks_++ < kMostSilentLooks) return;
  const int64_t silent_ns = executor_.clock().NowNs() - heard_ns_;
  GiveUp(NodeUnreachable(settings_.node,
                         absl::StrCat(PeerOf(settings_.node, settings_.open.channel),
                                      over ? " has not begun the session in 600 s"
                                           : absl::StrCat(" has been silent for ",
                                                          silent_ns / dataplane::kSecondNs, " s"),
                                      "; last known state: ", opening_phase_)));
}

void ClientSession::Stop() {
  if (std::exchange(stopped_, true) || state_ >= State::kEnding) return;
  if (state_ != State::kRunning || !data_path_->sending()) return GiveUp(JobCancelled());
  early_ = "the job was cancelled";
  data_path_->EndSource();
}

std::optional<Leftover> ClientSession::TakeLeftover() {
  if (data_path_ == nullptr || !data_path_->sending()) return std::nullopt;
  Leftover left = data_path_->TakeLeftover();
  left.end.registration = rails_->registration();
  rails_.reset();
  data_path_.reset();
  return left;
}

void ClientSession::OnMessage(Message message) {
  if (state_ >= State::kEnding) return;
  absl::Status status = Check(message);
  if (!status.ok()) return GiveUp(status);
  ++snapshot_.heard;
  if (const auto* accept = std::get_if<Accept>(&message)) {
    status = state_ == State::kOpening ? OnAccept(*accept) : UnexpectedFromNode("Accept");
  } else if (const auto* finished = std::get_if<Finished>(&message)) {
    OnPeerFinished(*finished);
  } else if (const auto* news = std::get_if<Progress>(&message);
             news != nullptr && state_ == State::kOpening) {
    silent_looks_ = 0;
    heard_ns_ = executor_.clock().NowNs();
    opening_phase_ = news->phase;
    snapshot_.memory_ready = news->memory_ready;
    on_change_(snapshot_);
  } else if (data_path_ == nullptr) {
    status = UnexpectedFromNode("a message before Accept");
  } else if (const auto* offer = std::get_if<RailOffer>(&message)) {
    rails_->OnPeerOffer(*offer);
  } else if (const auto* end = std::get_if<EndOfStream>(&message)) {
    if (data_path_->sending()) {
      status = UnexpectedFromNode("EndOfStream");
    } else {
      if (!sated_) snapshot_.total_blocks = end->blocks;
      data_path_->SetTotal(*end);
    }
  } else if (const auto* progress = std::get_if<Progress>(&message)) {
    OnProgress(*progress);
  } else {
    status = UnexpectedFromNode("Open");
  }
  if (!status.ok()) GiveUp(status);
}

absl::Status ClientSession::Check(const Message& message) const {
  const std::string peer = PeerOf(settings_.node, settings_.open.channel);
  Known known{.peer = peer, .asked = &settings_.open};
  if (data_path_ != nullptr) data_path_->AddTo(known);
  return CheckMessage(known, message);
}

void ClientSession::OnProgress(const Progress& news) {
  peer_ = news;
  if (settings_.trail == nullptr) return;
  settings_.trail->HeardClock(news.clock, executor_.clock().NowNs());
  if (news.clock.heard_sent_ns == 0 || more_readings_ == 0) return;
  --more_readings_;
  Tell();
}

void ClientSession::Tell() {
  Progress own = FullProgress();
  const int64_t now_ns = executor_.clock().NowNs();
  // Without a trail, too, it asks for an answer, which is a sign of life.
  own.clock = settings_.trail == nullptr ? flight::ClockReading{.sent_ns = now_ns}
                                         : settings_.trail->SendClock(now_ns);
  told_ns_ = now_ns;
  control_->Send(own);
}

absl::Status ClientSession::OnAccept(const Accept& accept) {
  snapshot_.accept = accept;
  if (settings_.trail != nullptr) {
    settings_.trail->Opened({.session = accept.session,
                             .recording = accept.recording,
                             .playback = settings_.open.direction == Direction::kPlayback,
                             .reads = accept.op == TransferOp::kRead});
  }
  trace_.Step("register");
  trace_.Set("tapedeck.session", accept.session);
  trace_.Set("tapedeck.recording", accept.recording);
  snapshot_.total_blocks = accept.blocks > 0 ? accept.blocks : settings_.open.expected_blocks;
  TD_ASSIGN_OR_RETURN(TransferEnd end, settings_.make_end(accept));
  data_path_ = std::make_unique<DataPath>(executor_,
                                          DataPathSettings{.op = accept.op,
                                                           .commit = accept.commit,
                                                           .peer_slots = accept.slots,
                                                           .block_bytes = accept.block_bytes,
                                                           .ordered = settings_.ordered,
                                                           .first_block = accept.next_block,
                                                           .trail = trail(),
                                                           .trace = &trace_},
                                          std::move(end), this);
  rails_ =
      std::make_unique<Rails>(executor_,
                              RailsSettings{.initiate = true,
                                            .connections_per_rail = settings_.connections_per_rail,
                                            .access = AccessFor(accept.op, data_path_->sending()),
                                            .trail = settings_.trail,
                                            .trace = &trace_,
                                            .arrivals = data_path_->arrivals()},
                              settings_.transports, data_path_->links(), this);
  state_ = State::kConnecting;
  if (settings_.trail != nullptr) {
    more_readings_ = kFirstReadings;
    Tell();
  }
  TD_RETURN_IF_ERROR(rails_->Start(data_path_->window(), data_path_->TakeRegistration()));
  trace_.Step();
  return absl::OkStatus();
}

void ClientSession::OnRailsUp() {
  state_ = State::kRunning;
  running_ns_ = executor_.clock().NowNs();
  snapshot_.setup_ns = running_ns_ - start_ns_;
  snapshot_.running = true;
  trace_.Step("first block");
  data_path_->Start();
  Report();
}

void ClientSession::OnSourceEnd(uint64_t blocks) {
  source_blocks_ = blocks;
  trace_.Step("drain");
  snapshot_.total_blocks = blocks;
  sated_ = !data_path_->sending();
  if (sated_) return;
  // Before the node closes the recording, which keeps it.
  control_->Send(FullProgress());
  control_->Send(EndOfStream{.blocks = blocks, .cause = early_});
}

void ClientSession::OnPumpDone(const absl::Status& cause) {
  pump_done_ = true;
  if (state_ >= State::kEnding) return CheckEnded();
  if (!cause.ok()) return GiveUp(cause);
  if (!data_path_->sending()) return End(absl::OkStatus());
  // All is acknowledged; the node now seals the recording and says so.
  trace_.Step("seal");
  executor_.PostAfter(kSealDeadlineNs, lifetime_.Guard([this] {
    GiveUp(PeerLost(settings_.node, absl::StrCat(PeerOf(settings_.node, settings_.open.channel),
                                                 " has not sealed the recording in 60 s")));
  }));
}

void ClientSession::OnPeerFinished(const Finished& finished) {
  StageTimes told = std::move(peer_.stage_times);
  peer_ = finished.progress;
  if (peer_.stage_times.empty()) peer_.stage_times = std::move(told);
  if (!finished.cause.ok()) return GiveUp(finished.cause);
  if (data_path_ == nullptr || !data_path_->sending())
    return GiveUp(UnexpectedFromNode("Finished"));
  End(absl::OkStatus());
}

void ClientSession::OnClosed(const absl::Status& cause) {
  stream_closed_ = true;
  if (state_ >= State::kEnding) return CheckEnded();
  const std::string peer = PeerOf(settings_.node, settings_.open.channel);
  if (SaysWhy(cause)) return GiveUp(dataplane::Prefixed(absl::StrCat(peer, ": "), cause));
  const std::string why = cause.ok() ? "it closed the stream" : std::string(cause.message());
  GiveUp(PeerLost(settings_.node, absl::StrCat("lost ", peer, ": ", why)));
}

// The first error counts.
void ClientSession::GiveUp(const absl::Status& cause) {
  if (state_ < State::kEnding) End(cause);
}

// The peer is told, the pump closes its end, the links go; then the node closes the stream.
void ClientSession::End(const absl::Status& cause) {
  state_ = State::kEnding;
  snapshot_.error = cause;
  if (cause.ok()) trail().Stamp(dataplane::flight::Kind::kFinished, {});
  trace_.Fail(cause);
  if (data_path_ == nullptr) {
    control_->Send(Finished{.cause = cause});
  } else {
    Refresh();
    control_->Send(Finished{.cause = cause, .progress = data_path_->progress()});
    if (!pump_done_) data_path_->Abort(cause.ok() ? absl::CancelledError("complete") : cause);
  }
  if (rails_ != nullptr) {
    rails_closed_ = false;
    rails_->Close(absl::CancelledError("the session ended"));
  }
  executor_.PostAfter(kFarewellNs, lifetime_.Guard([this] {
    control_->Close(absl::OkStatus());
    stream_closed_ = true;
    CheckEnded();
  }));
  // Posted: a caller may still be using what ends here.
  executor_.Post(lifetime_.Guard([this] { CheckEnded(); }));
}

void ClientSession::OnRailsClosed() {
  rails_closed_ = true;
  CheckEnded();
}

void ClientSession::CheckEnded() {
  if (!stream_closed_ || !rails_closed_ || state_ != State::kEnding) return;
  if (data_path_ != nullptr && !pump_done_) return;
  state_ = State::kEnded;
  snapshot_.ended = true;
  trace_.End(data_path_ == nullptr ? Progress() : data_path_->progress());
  on_change_(snapshot_);
}

Progress ClientSession::FullProgress() const {
  Progress full = data_path_->progress();
  full.stage_times = data_path_->stage_times();
  return full;
}

void ClientSession::Refresh() {
  const Progress own = data_path_->progress();
  const bool sending = data_path_->sending();
  const uint64_t committed =
      std::max(sending ? own.watermarks.received : own.watermarks.at(CommitLevel::kWritten),
               sending ? peer_.watermarks.at(snapshot_.accept.commit) : uint64_t{0});
  snapshot_.blocks = committed;
  snapshot_.bytes = committed == own.blocks ? own.bytes : committed * snapshot_.accept.block_bytes;
  snapshot_.counters = own.counters;
  snapshot_.counters += peer_.counters;
  if (running_ns_ != 0) snapshot_.elapsed_ns = executor_.clock().NowNs() - running_ns_;
  snapshot_.rails = rails_->progress();
  snapshot_.captures = peer_.captures;
  snapshot_.stage_times = data_path_->stage_times();
  model::Add(peer_.stage_times, snapshot_.stage_times);
  const uint64_t due = sending ? source_blocks_ : snapshot_.total_blocks;
  snapshot_.lost_blocks = data_path_->missing_blocks();
  // A playback that was stopped has not lost what it did not ask for.
  if (!(stopped_ && !sending) && due > committed) snapshot_.lost_blocks += due - committed;
}

void ClientSession::Report() {
  if (data_path_ != nullptr) {
    Refresh();
    Snapshot now = snapshot_;
    now.lost_blocks = 0;  // known at the end only
    on_change_(now);
  }
}

void ClientSession::Tick() {
  if (state_ >= State::kEnding) return;
  Report();
  LookAtOpening();
  const int64_t now_ns = executor_.clock().NowNs();
  if (data_path_ != nullptr && now_ns - told_ns_ >= kTellNs) Tell();
  executor_.PostAfter(kReportNs, lifetime_.Guard([this] { Tick(); }));
}

}  // namespace tapedeck::services::session
