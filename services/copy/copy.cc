#include "services/copy/copy.h"

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "dataplane/deadline.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/compare.h"
#include "services/copy/compatible.h"
#include "services/rpc/storage_session/player.h"
#include "services/rpc/storage_session/recorder.h"
#include "services/session/opening/loss.h"

namespace tapedeck::services::copying {

using dataplane::Block;
using storage_session::Player;
using storage_session::Recorder;

namespace {

constexpr absl::Duration kFirstDelay = absl::Milliseconds(200);
constexpr absl::Duration kLongestDelay = absl::Seconds(5);

// As the request has it, which outlives it.
Pace PaceOf(const CopyRequest& request) {
  return Pace([&request](uint64_t done) {
    return request.progress(done) ? std::optional(request.bytes_per_s) : std::nullopt;
  });
}

absl::StatusOr<NextBlock> PlaySource(const CopyRequest& request, uint64_t first) {
  return request.play ? request.play(first) : Play(request.from, request.source, first);
}

// One copy over as many sessions as it takes.
class Copier {
 public:
  explicit Copier(const CopyRequest& request)
      : request_(request),
        checkpoint_(request.checkpoint),
        pace_(PaceOf(request)),
        moved_at_(dataplane::SteadyTime()) {}

  absl::StatusOr<Copied> Run();

 private:
  absl::Status Try();
  absl::StatusOr<std::unique_ptr<Recorder>> Begin();
  absl::Status MoveFrom(uint64_t first, Recorder& recorder);
  // Whether another session may go on after this one's end.
  bool MayGoOn(const absl::Status& failure);
  absl::Status Wait(const absl::Status& cause);

  const CopyRequest& request_;
  std::optional<Checkpoint> checkpoint_;
  Pace pace_;
  absl::Time moved_at_;    // when it last got further
  uint32_t failures_ = 0;  // since then
  bool begun_ = false;
  Copied copied_;
};

Recorder::Options OptionsOf(const CopyRequest& request,
                            const std::optional<Checkpoint>& checkpoint) {
  const Recording& source = request.source;
  Recorder::Options out{.blocks = source.blocks,
                        .labels = source.labels,
                        .origin = source.origin,
                        .group = source.group,
                        .part = source.part};
  if (checkpoint.has_value()) {
    out.resume = session::Resume{.recording = checkpoint->recording, .token = checkpoint->token};
  } else {
    out.original = OriginalOf(source);
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Recorder>> Copier::Begin() {
  auto recorder = Recorder::Begin(request_.to, request_.channel, OptionsOf(request_, checkpoint_));
  const auto why = session::WhyRefused(recorder.status());
  // Of what is gone, or was given up long ago, nothing can be gone on with: it begins anew.
  if (!recorder.ok() && checkpoint_.has_value() && why.has_value() && *why != "SEALED") {
    dataplane::Log(dataplane::LogLevel::kWarning, "copy", "begins anew",
                   {{"recording", checkpoint_->recording},
                    {"cause", std::string(recorder.status().message())}});
    checkpoint_.reset();
    recorder = Recorder::Begin(request_.to, request_.channel, OptionsOf(request_, checkpoint_));
  }
  TD_RETURN_IF_ERROR(recorder.status());
  checkpoint_ =
      Checkpoint{.recording = (*recorder)->recording(), .token = (*recorder)->resume_token()};
  TD_RETURN_IF_ERROR(request_.begun(*checkpoint_));
  return recorder;
}

absl::Status Copier::MoveFrom(uint64_t first, Recorder& recorder) {
  TD_ASSIGN_OR_RETURN(const NextBlock next, PlaySource(request_, first));
  const auto take = [&](Block read) -> absl::Status {
    TD_ASSIGN_OR_RETURN(Block slot, recorder.Slot());
    recorder.GiveChecked(CopyInto(std::move(slot), std::move(read)));
    moved_at_ = dataplane::SteadyTime();
    failures_ = 0;
    return absl::OkStatus();
  };
  return PumpBlocks({request_.source.name, first, request_.source.blocks}, next, take, pace_);
}

absl::Status Copier::Try() {
  TD_ASSIGN_OR_RETURN(const auto recorder, Begin());
  const uint64_t first = recorder->next_block();
  if (!begun_) copied_.first_block = first;
  begun_ = true;
  absl::Status moved =
      first < request_.source.blocks ? MoveFrom(first, *recorder) : absl::OkStatus();
  if (moved.ok() && request_.note) moved = request_.note(recorder->recording());
  if (moved.ok()) return recorder->Finish();
  recorder->Abandon();
  return moved;
}

bool Copier::MayGoOn(const absl::Status& failure) {
  // What was wrong from the beginning is told at once.
  if (!begun_ && !checkpoint_.has_value()) return false;
  return session::MayPass(failure) && dataplane::SteadyTime() - moved_at_ < request_.patience;
}

absl::Status Copier::Wait(const absl::Status& cause) {
  dataplane::Log(dataplane::LogLevel::kWarning, "copy", "tries again",
                 {{"recording", request_.source.name}, {"cause", std::string(cause.message())}});
  const auto until =
      dataplane::Deadline::In(dataplane::BackoffAfter(++failures_, kFirstDelay, kLongestDelay));
  while (!until.passed()) {
    TD_RETURN_IF_ERROR(pace_.Wait(0));
    absl::SleepFor(absl::Milliseconds(50));
  }
  return absl::OkStatus();
}

absl::StatusOr<Copied> Copier::Run() {
  while (true) {
    const absl::Status tried = Try();
    // It had ended when its session was lost.
    const bool sealed = session::WhyRefused(tried) == "SEALED";
    if (tried.ok() || sealed) {
      copied_.recording = checkpoint_->recording;
      copied_.bytes = pace_.done();
      if (!begun_) copied_.first_block = request_.source.blocks;
      return copied_;
    }
    if (!MayGoOn(tried)) return tried;
    TD_RETURN_IF_ERROR(Wait(tried));
  }
}

}  // namespace

absl::StatusOr<NextBlock> Play(const storage_session::Peer& peer, const Recording& recording,
                               uint64_t first) {
  return BlocksOf(Player::Begin(peer, recording, first));
}

absl::StatusOr<Copied> Copy(const CopyRequest& request) {
  TD_RETURN_IF_ERROR(CheckCompatible(request.source, request.channel));
  return Copier(request).Run();
}

absl::Status CompareCopy(const CopyRequest& request, const Recording& copy) {
  TD_ASSIGN_OR_RETURN(const NextBlock of_source, PlaySource(request, 0));
  TD_ASSIGN_OR_RETURN(const NextBlock of_copy, Play(request.to, copy));
  Pace pace = PaceOf(request);
  return CompareBlocks({request.source.name, copy.name, request.source.blocks}, of_source, of_copy,
                       pace);
}

}  // namespace tapedeck::services::copying
