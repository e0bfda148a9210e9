#include "gpu_worker/api/include/tapedeck/recorder.h"

#include <utility>

#include "dataplane/deadline.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/api/answer.h"
#include "gpu_worker/api/deck_parts.h"
#include "gpu_worker/api/include/tapedeck/kernel_channel.h"
#include "services/base/errors.h"
#include "services/model/words/resource_name.h"

namespace tapedeck {

namespace api = gpu_worker::api;
using api::ToResult;
using api::ToStatus;

namespace {

constexpr std::chrono::milliseconds kNoTime{0};
constexpr std::chrono::milliseconds kMostResume = std::chrono::hours(24);

absl::StatusOr<std::shared_ptr<api::SlotSession>> OpenRecording(api::SlotEnvironment environment,
                                                                std::shared_ptr<const void> deck,
                                                                services::StorageDialer& dialer,
                                                                const RecorderOptions& options) {
  environment.deck = std::move(deck);
  if (options.resume_for < kNoTime || options.resume_for > kMostResume) {
    return services::ArgumentInvalid("resume_for", "give 0 to a day");
  }
  TD_ASSIGN_OR_RETURN(const std::string channel,
                      services::model::ExpandName(options.channel, {"luns", "channels"}));
  return api::SlotSession::Record(environment, dialer.Dial(options.storage, {}, ""),
                                  {.node = options.storage,
                                   .channel = channel,
                                   .slots = options.slots,
                                   .labels = options.labels,
                                   .resume_for_ns = options.resume_for.count() * 1'000'000},
                                  dataplane::Deadline::In(api::kOpenTime));
}

}  // namespace

struct Recorder::Parts {
  std::shared_ptr<api::SlotSession> session;

  api::RecordSlots& slots() const { return *session->record(); }
  ~Parts() {
    if (session != nullptr) session->Close(dataplane::Deadline::In(api::kCloseTime));
    session.reset();
  }
};

Result<Recorder> Recorder::Open(const Deck& deck, const RecorderOptions& options) {
  auto session =
      OpenRecording(deck.parts_->environment, deck.parts_, *deck.parts_->dialer, options);
  if (!session.ok()) return ToStatus(session.status());
  auto parts = std::make_unique<Parts>();
  parts->session = *std::move(session);
  return Recorder(std::move(parts));
}

Recorder::Recorder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Recorder::~Recorder() = default;
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;

std::size_t Recorder::block_bytes() const { return parts_->slots().block_bytes(); }
std::size_t Recorder::slots() const { return parts_->slots().slots(); }
std::vector<std::string> Recorder::notes() const { return parts_->session->notes(); }

Result<Slot> Recorder::Acquire(std::chrono::nanoseconds timeout) {
  return ToResult(parts_->slots().AcquireNow(api::DeadlineIn(timeout)));
}

Status Recorder::Send(const Slot& slot, std::size_t bytes) {
  return ToStatus(parts_->slots().SendNow(slot, bytes));
}

Result<Slot> Recorder::Acquire(Stream stream) { return ToResult(parts_->slots().Acquire(stream)); }

Status Recorder::Send(Stream stream, const Slot& slot, std::size_t bytes) {
  return ToStatus(parts_->slots().Send(stream, slot, bytes));
}

Status Recorder::GiveToKernels(KernelChannel* channel) {
  const absl::StatusOr<gpu_worker::sockets::Channel> given = parts_->slots().GiveToKernels();
  if (given.ok()) static_cast<gpu_worker::sockets::Channel&>(*channel) = *given;
  return ToStatus(given.status());
}

const std::uint64_t* Recorder::failed() const { return parts_->slots().control().failed(); }

Status Recorder::status() const {
  const services::session::Snapshot now = parts_->session->snapshot();
  if (now.ended && now.error.ok()) return Status();
  return ToStatus(parts_->slots().status());
}

RecorderProgress Recorder::progress() const {
  const services::session::Snapshot now = parts_->session->snapshot();
  return {.recording = now.accept.recording,
          .sent = parts_->slots().sent(),
          .committed = now.blocks,
          .bytes = now.bytes,
          .ended = now.ended};
}

Status Recorder::Flush(std::chrono::nanoseconds timeout) {
  const dataplane::Deadline deadline = api::DeadlineIn(timeout);
  const absl::StatusOr<uint64_t> sent = parts_->slots().AwaitSent(deadline);
  if (!sent.ok()) return ToStatus(sent.status());
  if (parts_->session->AwaitCommitted(*sent, deadline)) return Status();
  const Status failed = status();
  if (!failed.ok()) return failed;
  return Status("DEADLINE_EXCEEDED", "some sent blocks are not committed yet");
}

Result<RecorderProgress> Recorder::Finish(std::chrono::nanoseconds timeout) {
  const dataplane::Deadline deadline = api::DeadlineIn(timeout);
  const absl::Status closed = parts_->slots().Close(deadline);
  if (!closed.ok()) return ToStatus(closed);
  if (!parts_->session->AwaitEnd(deadline)) {
    return Status("DEADLINE_EXCEEDED", "the storage node has not sealed the recording yet");
  }
  const Status failed = status();
  if (!failed.ok()) return failed;
  return progress();
}

}  // namespace tapedeck
