#include "services/session/serving/server_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/trace/context.h"
#include "services/session/protocol/check.h"
#include "services/session/protocol/violation.h"
#include "services/session/serving/admitted.h"

namespace tapedeck::services::session {

using dataplane::LogLevel;
using telemetry::trace::LogUnder;

namespace {

absl::Status UnexpectedFromWorker(absl::string_view message) {
  return UnexpectedMessage("the worker", message);
}

absl::Status StreamEnded(const absl::Status& cause) {
  if (SaysWhy(cause)) return cause;
  return PeerLost(
      "worker", absl::StrCat("the worker's control stream ended: ", std::string(cause.message())));
}

}  // namespace

ServerSession::ServerSession(dataplane::Executor& executor, const ServerSessionSettings& settings,
                             std::unique_ptr<ControlStream> control, std::function<void()> on_ended)
    : executor_(executor),
      settings_(settings),
      control_(std::move(control)),
      on_ended_(std::move(on_ended)),
      start_ns_(executor.clock().NowNs()),
      progress_(executor.clock(), {.control = control_.get(),
                                   .trail = settings_.trail,
                                   .on_progress = settings_.on_progress}),
      phases_(executor.clock().NowNs()) {}

ServerSession::~ServerSession() = default;

void ServerSession::Start() {
  control_->Start(this, &executor_);
  LookAtPhase();
}

void ServerSession::LookAtPhase() {
  if (finished_) return;
  const LogUnder log(trace_.context());
  const PhaseState state =
      PhaseStateOf(admission_.get(), data_path_.get(), rails_.get(), pump_done_);
  const absl::Status status = phases_.Look(state, executor_.clock().NowNs());
  if (!status.ok()) {
    dataplane::Log(LogLevel::kWarning, "session", "ended: the worker did not continue",
                   {{"session", settings_.id},
                    {"recording", name_},
                    {"cause", std::string(status.message())}});
    return Abort(status);
  }
  executor_.PostAfter(kLookNs, lifetime_.Guard([this] { LookAtPhase(); }));
}

void ServerSession::OnMessage(Message message) {
  const LogUnder log(trace_.context());
  phases_.Heard(executor_.clock().NowNs());
  if (finished_) {
    // The worker has read our Finished.
    if (std::holds_alternative<Finished>(message)) CloseRails();
    return;
  }
  Known known{.peer = "the worker"};
  if (data_path_ != nullptr) data_path_->AddTo(known);
  absl::Status status = CheckMessage(known, message);
  if (!status.ok()) return Abort(status);
  if (const auto* open = std::get_if<Open>(&message)) {
    status = admission_ == nullptr ? OnOpen(*open) : UnexpectedFromWorker("Open");
  } else if (const auto* left = std::get_if<Finished>(&message);
             left != nullptr && admission_ != nullptr && data_path_ == nullptr) {
    Abort(left->cause.ok() ? absl::CancelledError("the worker left") : left->cause);
  } else if (data_path_ == nullptr) {
    status = UnexpectedFromWorker("a message before Open");
  } else if (const auto* offer = std::get_if<RailOffer>(&message)) {
    rails_->OnPeerOffer(*offer);
  } else if (const auto* end = std::get_if<EndOfStream>(&message)) {
    if (data_path_->sending()) {
      status = UnexpectedFromWorker("EndOfStream");
    } else {
      data_path_->SetTotal(*end);
    }
  } else if (const auto* finished = std::get_if<Finished>(&message)) {
    OnPeerFinished(*finished);
  } else if (const auto* news = std::get_if<Progress>(&message)) {
    progress_.Heard(*news);
  } else {
    status = UnexpectedFromWorker("Accept");
  }
  if (!status.ok()) Abort(status);
}

absl::Status ServerSession::OnOpen(const Open& open) {
  if (open.version != kProtocolVersion) {
    return VersionMismatch(
        kProtocolVersion, open.version,
        absl::StrCat("the worker speaks session protocol ", open.version, ", this node ",
                     kProtocolVersion, "; install the same release on both"));
  }
  BeginTrace(open);
  Open traced = open;
  traced.trace = trace_.branch();
  admission_ = std::make_shared<AdmissionWatch>();
  traced.trail = settings_.trail == nullptr ? 0 : settings_.trail->trail().id();
  settings_.host->Admit(traced, executor_, admission_,
                        lifetime_.Guard([this, traced](absl::StatusOr<Admission> admission) {
                          OnAdmitted(traced, std::move(admission));
                        }));
  TellAdmission();
  return absl::OkStatus();
}

// Under the worker's session. How long it took to say so is the first step.
void ServerSession::BeginTrace(const Open& open) {
  trace_ = SessionTrace(
      {.tracer = settings_.tracer,
       .above = telemetry::trace::ParseTraceContext(open.traceparent, open.tracestate)},
      open.direction);
  trace_.Set("tapedeck.session", settings_.id);
  trace_.branch().StartedBefore(executor_.clock().NowNs() - start_ns_, "open").End();
  trace_.Step("admit");
}

void ServerSession::OnAdmitted(const Open& open, absl::StatusOr<Admission> admission) {
  if (finished_) return;
  const LogUnder log(trace_.context());
  absl::Status status = admission.status();
  if (status.ok()) status = BeginTransfer(open, *std::move(admission));
  if (!status.ok()) Abort(status);
}

void ServerSession::TellAdmission() {
  if (data_path_ != nullptr || finished_) return;
  control_->Send(
      Progress{.phase = admission_->phase().first, .memory_ready = admission_->memory_ready()});
  executor_.PostAfter(kIdleProgressNs, lifetime_.Guard([this] { TellAdmission(); }));
}

absl::Status ServerSession::BeginTransfer(const Open& open, Admission admission) {
  if (admission.transports.empty()) admission.transports = settings_.transports;
  const Accept accept = AcceptOf(admission, settings_.id, admission.transports);
  name_ = accept.recording;
  if (settings_.trail != nullptr) {
    settings_.trail->Opened({.session = settings_.id,
                             .recording = name_,
                             .playback = admission.source != nullptr,
                             .reads = accept.op == TransferOp::kRead});
  }
  trace_.Set("tapedeck.recording", name_);
  trace_.Step("register");
  MakeTransfer(open.slots, accept, std::move(admission));
  TD_RETURN_IF_ERROR(rails_->Start(data_path_->window(), data_path_->TakeRegistration()));
  dataplane::Log(LogLevel::kInfo, "session", "open",
                 {{"session", settings_.id}, {"recording", name_}, {"recorder", open.recorder}});
  accepted_ = true;
  trace_.Step("first block");
  control_->Send(accept);
  data_path_->Start();
  SendProgress();
  return absl::OkStatus();
}

void ServerSession::MakeTransfer(uint32_t peer_slots, const Accept& accept, Admission admission) {
  data_path_ = std::make_unique<DataPath>(executor_,
                                          DataPathSettings{.op = accept.op,
                                                           .commit = accept.commit,
                                                           .peer_slots = peer_slots,
                                                           .block_bytes = accept.block_bytes,
                                                           .ordered = admission.ordered,
                                                           .first_block = accept.next_block,
                                                           .trail = trail(),
                                                           .trace = &trace_},
                                          TakeEnd(admission), this);
  rails_ =
      std::make_unique<Rails>(executor_,
                              RailsSettings{.peer_ends = data_path_->sending(),
                                            .access = AccessFor(accept.op, data_path_->sending()),
                                            .trail = settings_.trail,
                                            .trace = &trace_,
                                            .arrivals = data_path_->arrivals()},
                              std::move(admission.transports), data_path_->links(), this);
  rails_closed_ = false;
  progress_.Begin(*data_path_, *rails_,
                  {.verifier = std::move(admission.verifier),
                   .captures = std::move(admission.captures),
                   .stages = std::move(admission.stages)});
}

void ServerSession::OnPeerFinished(const Finished& finished) {
  // The worker has all it wanted (playback), or gives up.
  if (finished.cause.ok() && data_path_->sending()) {
    trail().Stamp(dataplane::flight::Kind::kFinished, {});
    finished_ = true;
    rails_->ExpectClose();
    CloseRails();
  } else {
    Abort(finished.cause.ok() ? UnexpectedFromWorker("Finished") : finished.cause);
  }
}

void ServerSession::OnSourceEnd(uint64_t blocks) {
  trace_.Step("drain");
  if (data_path_->sending()) control_->Send(EndOfStream{.blocks = blocks});
}

void ServerSession::OnPumpDone(const absl::Status& cause) {
  const LogUnder log(trace_.context());
  pump_done_ = true;
  trace_.Fail(cause);
  trace_.Step();
  if (finished_) return CheckEnded();
  if (cause.ok()) rails_->ExpectClose();
  if (accepted_) control_->Send(progress_.full());
  // A playback that was sent in full ends when the worker says so.
  if (data_path_->sending() && cause.ok()) return;
  if (cause.ok()) trail().Stamp(dataplane::flight::Kind::kFinished, {});
  finished_ = true;
  dataplane::Log(cause.ok() ? LogLevel::kInfo : LogLevel::kWarning, "session", "finished",
                 {{"session", settings_.id},
                  {"recording", name_},
                  {"blocks", absl::StrCat(progress().blocks)},
                  {"cause", cause.ok() ? "complete" : std::string(cause.message())}});
  TellOfFailure(cause);
  control_->Send(Finished{.cause = cause, .progress = progress_.full()});
  if (stream_closed_ || !cause.ok()) return CloseRails();
  // The links stay until the worker has read this, for the last acknowledgements.
  executor_.PostAfter(kLastWordsNs, lifetime_.Guard([this] { CloseRails(); }));
}

void ServerSession::OnClosed(const absl::Status& cause) {
  if (std::exchange(stream_closed_, true)) return;
  if (let_go_) return on_ended_();
  if (!finished_) return Abort(StreamEnded(cause));
  CloseRails();
}

void ServerSession::Abort(const absl::Status& cause) {
  if (admission_ != nullptr) admission_->Leave();
  if (data_path_ != nullptr && !pump_done_) return data_path_->Abort(cause);
  if (std::exchange(finished_, true)) return;
  trace_.Fail(cause);
  control_->Send(Finished{.cause = cause});
  CloseRails();
}

void ServerSession::CloseRails() {
  if (rails_ != nullptr) rails_->Close(absl::CancelledError("the session ended"));
  CheckEnded();
}

void ServerSession::OnRailsClosed() {
  rails_closed_ = true;
  CheckEnded();
}

void ServerSession::CheckEnded() {
  if (!finished_ || !rails_closed_ || std::exchange(ended_, true)) return;
  // Posted: this may be called by what is destroyed.
  executor_.Post(lifetime_.Guard([this] { LetGo(); }));
}

// The stream is closed last: when the worker sees its end, the recording is free. What was sent
// must still go out, so this ends with OnClosed, or when the worker does not read any more.
void ServerSession::LetGo() {
  progress_.Forget();
  trace_.End(progress());
  rails_.reset();
  data_path_.reset();
  let_go_ = true;
  if (stream_closed_) return on_ended_();
  control_->Close(absl::OkStatus());
  executor_.PostAfter(kFarewellNs, lifetime_.Guard([this] {
    if (!std::exchange(stream_closed_, true)) on_ended_();
  }));
}

// Where what the flight recorder has of a session is kept that failed.
void ServerSession::TellOfFailure(const absl::Status& cause) const {
  if (!cause.ok() && settings_.trail != nullptr) settings_.trail->Failed(cause);
}

void ServerSession::SendProgress() {
  if (finished_) return;
  progress_.Tell();
  executor_.PostAfter(kProgressNs, lifetime_.Guard([this] { SendProgress(); }));
}

}  // namespace tapedeck::services::session
