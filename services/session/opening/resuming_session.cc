#include "services/session/opening/resuming_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/session/opening/loss.h"
#include "services/session/opening/transfer.h"

namespace tapedeck::services::session {

using dataplane::LogLevel;

namespace {

// Between two tries: a node that starts again is met soon, one that stays away costs little.
constexpr int64_t kFirstDelayNs = 50 * dataplane::kMillisecondNs;
constexpr int64_t kLastDelayNs = dataplane::kSecondNs;

std::string Seconds(int64_t ns) { return absl::FormatDuration(absl::Nanoseconds(ns)); }

}  // namespace

ResumingSession::ResumingSession(dataplane::Executor& executor, ResumingSettings settings)
    : executor_(executor), settings_(std::move(settings)) {}

void ResumingSession::Start(OnChange on_change) {
  on_change_ = std::move(on_change);
  OpenSession();
}

void ResumingSession::Stop() {
  stopped_ = true;
  if (session_ != nullptr) return session_->Stop();
  if (!ended_) executor_.Post(lifetime_.Guard([this] { Conclude(JobCancelled()); }));
}

void ResumingSession::EndsEarly(const std::string& why) {
  early_ = why;
  if (session_ != nullptr) session_->EndsEarly(why);
}

const std::string& ResumingSession::node() const {
  return turn_ == 0 ? settings_.session.node : settings_.standbys[turn_ - 1];
}

void ResumingSession::OpenSession() {
  ClientSessionSettings settings = settings_.session;
  settings.node = node();
  settings.open.resume = resume_;
  settings.make_end = [this](const Accept& accept) { return MakeEnd(accept); };
  auto stream = turn_ == 0 ? settings_.open_stream() : settings_.open_standby(turn_ - 1);
  session_ = std::make_unique<ClientSession>(executor_, std::move(settings), std::move(stream));
  session_->EndsEarly(early_);
  session_->Start([this](const Snapshot& snapshot) { OnSnapshot(snapshot); });
}

absl::StatusOr<TransferEnd> ResumingSession::MakeEnd(const Accept& accept) {
  if (!end_.has_value()) {
    TD_ASSIGN_OR_RETURN(TransferEnd end, settings_.session.make_end(accept));
    if (settings_.resume_for_ns > 0 && end.source != nullptr && !accept.resume_token.empty()) {
      auto resumable = std::make_unique<ResumableSource>(std::move(end.source));
      resumable_ = resumable.get();
      end.source = std::move(resumable);
    }
    return end;
  }
  const bool behind_all = settings_.give_elsewhere != nullptr;
  if (accept.next_block > resumable_->end() ||
      (behind_all && accept.next_block < resumable_->end())) {
    return ProtocolViolation(
        {.message = "Accept", .field = "next_block", .peer = node()},
        absl::StrCat("storage node ", node(), " asks for block ", accept.next_block,
                     " of a recording; the worker has sent ", resumable_->end()));
  }
  resumable_->Forget(accept.next_block);
  before_.counters.retransmitted_blocks += resumable_->again();
  TransferEnd end = *std::exchange(end_, std::nullopt);
  end.moved = resumable_->settled();
  end.given = resumable_->end();
  // What was only received may be gone.
  end.moved.missing = std::max(end.moved.missing, accept.missing_blocks);
  return end;
}

void ResumingSession::OnSnapshot(const Snapshot& snapshot) {
  if (snapshot.ended) {
    // Not inside its own callback.
    return executor_.Post(lifetime_.Guard([this, snapshot] { OnEnded(snapshot); }));
  }
  if (snapshot.running && !lost_.ok()) OnUp(snapshot);
  ran_ = ran_ || snapshot.running;
  last_ = Sum(snapshot);
  on_change_(last_);
}

void ResumingSession::OnUp(const Snapshot& snapshot) {
  failures_ = 0;
  if (!ran_) {
    lost_ = absl::OkStatus();
    return;
  }
  ++before_.counters.resumes;
  const bool same = snapshot.accept.verifier == verifier_;
  dataplane::Log(LogLevel::kInfo, "session", "recording continues",
                 {{"recording", snapshot.accept.recording},
                  {"node", node()},
                  {"first_block", absl::StrCat(snapshot.accept.next_block)},
                  {"storage_node", same ? "kept what it had" : "lost what was not durable"},
                  {"lost", std::string(lost_.message())}});
  lost_ = absl::OkStatus();
}

bool ResumingSession::MayGoOn(const Snapshot& snapshot) const {
  if (stopped_ || snapshot.error.ok()) return false;
  if (over_ && !lost_.ok()) return false;
  if (resumable_ == nullptr || (lost_.ok() && !snapshot.running)) return MayBegin(snapshot);
  // One that never began is told at once: what is wrong with it was so before.
  if (lost_.ok()) return IsLost(snapshot.error);
  // Of what was deleted before anything of it was acknowledged, another one may be made.
  const bool anew = WhyRefused(snapshot.error) == "DELETED" && resumable_->first() == 0;
  return MayPassHere(snapshot.error) || (anew && resume_.has_value());
}

// Nothing of the stream has gone to the node yet.
bool ResumingSession::MayBegin(const Snapshot& snapshot) const {
  return settings_.begins_late && !snapshot.running && MayPassHere(snapshot.error);
}

// A node whose LUN another one has taken tells of a failed write. Two nodes whose common store
// fails do, too: so a block must have been acknowledged since the last time.
bool ResumingSession::IsLost(const absl::Status& cause) const {
  if (IsLoss(cause)) return true;
  return !settings_.standbys.empty() && MayBeElsewhere(cause) && last_.blocks > blocks_at_loss_;
}

bool ResumingSession::MayPassHere(const absl::Status& refusal) const {
  return MayPass(refusal) || (!settings_.standbys.empty() && MayBeElsewhere(refusal));
}

void ResumingSession::TakeBack() {
  std::optional<Leftover> left = session_->TakeLeftover();
  session_.reset();
  if (!left.has_value()) return;
  if (settings_.give_elsewhere) {
    settings_.give_elsewhere(std::move(left->blocks));
  } else {
    resumable_->GiveBack(std::move(left->blocks));
  }
  end_ = std::move(left->end);
}

void ResumingSession::OnEnded(const Snapshot& snapshot) {
  last_ = Sum(snapshot);
  if (IsComplete(snapshot.error)) return ConcludeWhole();
  if (!MayGoOn(snapshot)) {
    if (settings_.give_elsewhere && !snapshot.error.ok()) TakeBack();
    return Conclude(ErrorOf(snapshot.error));
  }
  TakeBack();
  AddWork(snapshot, Together::kAfter, &before_);
  if (lost_.ok()) {
    OnLost(snapshot.error);
  } else {
    refusal_ = snapshot.error;
    turn_ = (turn_ + 1) % (settings_.standbys.size() + 1);
  }
  if (!snapshot.accept.resume_token.empty()) {
    verifier_ = snapshot.accept.verifier;
    resume_ = Resume{.recording = snapshot.accept.recording, .token = snapshot.accept.resume_token};
  } else if (WhyRefused(snapshot.error).has_value()) {
    resume_.reset();
  }
  if (resumable_ == nullptr) resume_.reset();
  if (resume_.has_value()) resume_->first_block = resumable_->first();
  TryAgain();
}

void ResumingSession::OnLost(const absl::Status& cause) {
  lost_ = cause;
  blocks_at_loss_ = last_.blocks;
  refusal_ = absl::OkStatus();
  over_ = false;
  executor_.PostAfter(settings_.resume_for_ns, lifetime_.Guard([this, outage = ++outage_] {
    if (outage != outage_ || lost_.ok() || ended_) return;
    over_ = true;
    if (session_ != nullptr) return session_->Stop();
    Conclude(ErrorOf(absl::OkStatus()));
  }));
  dataplane::Log(LogLevel::kWarning, "session",
                 ran_ ? "lost; waiting to resume the recording"
                      : "not reachable; waiting to start the recording",
                 {{"recording", last_.accept.recording},
                  {"node", node()},
                  {"for", Seconds(settings_.resume_for_ns)},
                  {"kept_blocks", absl::StrCat(resumable_ == nullptr ? 0 : resumable_->again())},
                  {"cause", std::string(cause.message())}});
}

void ResumingSession::TryAgain() {
  last_.running = false;
  last_.ended = false;
  last_.error = absl::OkStatus();
  last_.resuming = true;
  last_.loss = refusal_.ok() ? lost_ : refusal_;
  on_change_(last_);
  const int64_t delay_ns = dataplane::BackoffAfter(failures_++, kFirstDelayNs, kLastDelayNs);
  executor_.PostAfter(delay_ns, lifetime_.Guard([this] {
    if (session_ == nullptr && !ended_) OpenSession();
  }));
}

bool ResumingSession::IsComplete(const absl::Status& refusal) const {
  if (lost_.ok() || resumable_ == nullptr || WhyRefused(refusal) != "SEALED") return false;
  if (!resumable_->total().has_value()) return false;
  return ReasonOf(refusal)->metadata["blocks"] == absl::StrCat(*resumable_->total());
}

// Between two sessions the loss is what counts.
absl::Status ResumingSession::ErrorOf(const absl::Status& last) const {
  if (lost_.ok()) return last;
  if (stopped_) return JobCancelled();
  std::string text = absl::StrCat(lost_.message(), "; the recording could not resume");
  if (!settings_.standbys.empty()) {
    absl::StrAppend(&text, " at ", settings_.session.node, " or ",
                    absl::StrJoin(settings_.standbys, " or "));
  }
  if (over_) absl::StrAppend(&text, " within ", Seconds(settings_.resume_for_ns));
  const absl::Status& why = over_ ? refusal_ : last;
  if (!why.ok()) absl::StrAppend(&text, ": ", why.message());
  const auto reason = ReasonOf(lost_).value_or(ErrorReason());
  return WithReason(absl::Status(lost_.code(), text), reason.reason, reason.metadata);
}

void ResumingSession::ConcludeWhole() {
  resumable_->Forget(resumable_->end());
  const PumpCounts all = resumable_->settled();
  last_.blocks = all.blocks;
  last_.bytes = all.bytes;
  last_.total_blocks = all.blocks;
  last_.lost_blocks = all.missing;
  Conclude(absl::OkStatus());
}

void ResumingSession::Conclude(const absl::Status& error) {
  if (std::exchange(ended_, true)) return;
  last_.ended = true;
  last_.resuming = false;
  last_.error = error;
  on_change_(last_);
}

Snapshot ResumingSession::Sum(const Snapshot& snapshot) const {
  Snapshot sum = snapshot;
  sum.resuming = !lost_.ok() && !snapshot.running;
  if (sum.resuming) sum.loss = last_.loss;
  if (snapshot.accept.session.empty()) sum.accept = last_.accept;
  // Until it has an end a session knows nothing of the blocks before it.
  if (snapshot.blocks < last_.blocks) {
    sum.blocks = last_.blocks;
    sum.bytes = last_.bytes;
  }
  sum.total_blocks = std::max(snapshot.total_blocks, last_.total_blocks);
  Snapshot work = before_;
  AddWork(snapshot, Together::kAfter, &work);
  sum.counters = work.counters;
  sum.elapsed_ns = work.elapsed_ns;
  sum.setup_ns = work.setup_ns;
  sum.rails = std::move(work.rails);
  sum.stage_times = std::move(work.stage_times);
  return sum;
}

}  // namespace tapedeck::services::session
