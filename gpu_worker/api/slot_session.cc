#include "gpu_worker/api/slot_session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "dataplane/datatype.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/pipeline/device_crc.h"
#include "gpu_worker/transfer/ring.h"
#include "services/base/errors.h"
#include "services/base/version.h"
#include "services/rpc/client/follow_moved.h"
#include "services/session/opening/loss.h"
#include "services/session/protocol/check.h"

namespace tapedeck::gpu_worker::api {

using dataplane::TransferOp;
using services::session::Direction;
using services::session::Snapshot;

namespace {

// More than an executor takes to come to what it is given.
constexpr absl::Duration kLetGoTime = absl::Seconds(5);

// Of a ring.
constexpr uint32_t kLeastSlots = 8;
constexpr uint32_t kMostSlots = 4096;

// 0 lets the library choose.
absl::Status CheckSlots(uint32_t slots, uint32_t least) {
  if (slots == 0 || (slots >= least && slots <= kMostSlots)) return absl::OkStatus();
  return services::ArgumentInvalid(
      "slots", absl::StrCat(slots, " slots: give ", least, " to ", kMostSlots, ", or 0"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<SlotSession>> SlotSession::Record(
    const SlotEnvironment& environment, std::shared_ptr<services::StorageClient> storage,
    const RecordingOrder& order, dataplane::Deadline deadline) {
  TD_RETURN_IF_ERROR(CheckSlots(order.slots, kLeastSlots));
  TD_ASSIGN_OR_RETURN(const services::Channel channel, storage->GetChannel(order.channel));
  TD_RETURN_IF_ERROR(services::session::CheckChannel(
      services::session::PeerOf(order.node, order.channel), channel));
  std::shared_ptr<SlotSession> made(new SlotSession(environment, std::move(storage)));
  TD_RETURN_IF_ERROR(made->OpenRecording(order, channel));
  services::session::Open open{
      .direction = Direction::kRecord,
      .channel = channel.name,
      .recorder = environment.name,
      .labels = order.labels,
      .origin = {.source = {.name = "program"}, .version = services::kVersion}};
  services::session::ResumingSettings settings{
      .session = {.node = order.node, .open = std::move(open)},
      .resume_for_ns = order.resume_for_ns};
  TD_RETURN_IF_ERROR(made->Start(std::move(settings), channel, deadline));
  return made;
}

absl::StatusOr<std::shared_ptr<SlotSession>> SlotSession::Play(
    const SlotEnvironment& environment, std::shared_ptr<services::StorageClient> storage,
    const PlayingOrder& order, dataplane::Deadline deadline) {
  TD_RETURN_IF_ERROR(CheckSlots(order.slots, 1));
  std::shared_ptr<SlotSession> made(new SlotSession(environment, std::move(storage)));
  TD_RETURN_IF_ERROR(made->OpenPlaying(order));
  services::session::Open open{.direction = Direction::kPlayback,
                               .recording = made->recording_.name,
                               .recorder = environment.name};
  services::session::ResumingSettings settings{
      .session = {.node = order.node, .open = std::move(open), .ordered = true}};
  TD_RETURN_IF_ERROR(made->Start(std::move(settings), std::nullopt, deadline));
  return made;
}

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> SlotSession::MakeRing(Direction way,
                                                                           TransferOp op,
                                                                           uint32_t slots,
                                                                           uint64_t block_bytes) {
  TD_ASSIGN_OR_RETURN(transfer::TransferRing ring,
                      transfer::MakeTransferRing({.device = environment_.device,
                                                  .ladder = environment_.ladder,
                                                  .rails = environment_.rails,
                                                  .direction = way,
                                                  .op = op,
                                                  .slots = slots,
                                                  .block_bytes = block_bytes}));
  notes_ = services::model::TextsOf(ring.notes);
  std::shared_ptr<dataplane::SlotPool> pool = ring.ring;
  session_ = std::make_unique<transfer::TransferSession>(*environment_.executor, std::move(ring));
  return pool;
}

absl::Status SlotSession::OpenRecording(const RecordingOrder& order,
                                        const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(const dataplane::Datatype datatype,
                      dataplane::ParseDatatype(channel.datatype));
  TD_ASSIGN_OR_RETURN(
      auto ring, MakeRing(Direction::kRecord, channel.op.value_or(TransferOp::kRead), order.slots,
                          channel.block_bytes));
  TD_ASSIGN_OR_RETURN(record_, RecordSlots::Create(*environment_.device, std::move(ring),
                                                   {.block_bytes = channel.block_bytes,
                                                    .sample_bytes = datatype.bytes_per_sample()},
                                                   environment_.executor->clock()));
  session_->end().source = std::make_unique<SlotSource>(record_);
  return absl::OkStatus();
}

absl::Status SlotSession::OpenPlaying(const PlayingOrder& order) {
  TD_ASSIGN_OR_RETURN(
      auto found,
      services::client::FollowMoved(
          [this](const std::string& at) { return storage_->GetRecording(at); }, order.recording));
  recording_ = std::move(found.recording);
  TD_RETURN_IF_ERROR(services::session::CheckRecording(
      services::session::PeerOf(order.node, order.recording), recording_));
  recording_.name = std::move(found.name);
  TD_ASSIGN_OR_RETURN(const auto ring, MakeRing(Direction::kPlayback, TransferOp::kWrite,
                                                order.slots, recording_.block_bytes));
  if (!ring->window().host_accessible) {
    TD_ASSIGN_OR_RETURN(session_->end().payload_crc,
                        pipeline::DeviceCrc::Create(*environment_.device));
  }
  const size_t slots =
      order.slots == 0 ? ring->slots() : std::min<size_t>(order.slots, ring->slots());
  TD_ASSIGN_OR_RETURN(play_,
                      PlaySlots::Create(*environment_.device, slots, recording_.block_bytes));
  session_->end().sink = std::make_unique<SlotSink>(play_);
  return absl::OkStatus();
}

absl::Status SlotSession::Start(services::session::ResumingSettings settings,
                                std::optional<services::Channel> channel,
                                dataplane::Deadline deadline) {
  const std::string node = settings.session.node;
  settings.session.transports = environment_.rails;
  settings.session.connections_per_rail = environment_.connections_per_rail;
  settings.open_stream = [this] { return storage_->OpenSession(); };
  session_->Open(std::move(settings), std::move(channel));
  environment_.proxy->Watch(record_ != nullptr ? std::shared_ptr<Watched>(record_)
                                               : std::shared_ptr<Watched>(play_));
  environment_.executor->Post([self = shared_from_this()] {
    // The session holds this until it has ended.
    self->session_->Start([self](const Snapshot& snapshot) { self->OnChange(snapshot); });
  });
  dataplane::MayWait("a storage node");
  bool up = false;
  {
    absl::MutexLock lock(&mutex_);
    const auto settled = [&] {
      mutex_.AssertReaderHeld();
      return last_.running || last_.ended;
    };
    up = dataplane::AwaitUntil(mutex_, absl::Condition(&settled), deadline);
  }
  const Snapshot now = snapshot();
  if (up && (!now.ended || now.error.ok())) return absl::OkStatus();
  Close(dataplane::Deadline::In(kCloseTime));
  if (!up)
    return services::NodeUnreachable(node, absl::StrCat(node, ": the session did not begin"));
  return device::FailureOn(*environment_.device, now.error);
}

Watched& SlotSession::watched() const {
  return record_ != nullptr ? static_cast<Watched&>(*record_) : *play_;
}

SlotControl& SlotSession::control() const {
  return record_ != nullptr ? record_->control() : play_->control();
}

void SlotSession::OnChange(const Snapshot& snapshot) {
  if (snapshot.ended) {
    const absl::Status error = device::FailureOn(*environment_.device, snapshot.error);
    if (record_ != nullptr) record_->Fail(error);
    if (play_ != nullptr) play_->End(error);
    // Not inside its own callback.
    environment_.executor->Post([self = shared_from_this()] { self->session_->LetGo(); });
  }
  absl::MutexLock lock(&mutex_);
  last_ = snapshot;
}

Snapshot SlotSession::snapshot() const {
  absl::MutexLock lock(&mutex_);
  return last_;
}

bool SlotSession::AwaitEnd(dataplane::Deadline deadline) const {
  dataplane::MayWait("a session");
  absl::MutexLock lock(&mutex_);
  return dataplane::AwaitUntil(mutex_, absl::Condition(&last_.ended), deadline);
}

bool SlotSession::AwaitCommitted(uint64_t blocks, dataplane::Deadline deadline) const {
  dataplane::MayWait("a session");
  absl::MutexLock lock(&mutex_);
  const auto there = [&] {
    mutex_.AssertReaderHeld();
    return last_.blocks >= blocks || last_.ended;
  };
  return dataplane::AwaitUntil(mutex_, absl::Condition(&there), deadline) && last_.blocks >= blocks;
}

absl::Status SlotSession::EndAll(dataplane::Deadline deadline) {
  if (record_ != nullptr) {
    // A stream that is gone sends no more, and a node that hangs takes none: time is left to stop.
    const auto half = dataplane::Deadline::In(deadline.left() / 2);
    record_->CloseWith(half);
    AwaitEnd(half);
  }
  environment_.executor->Post([self = shared_from_this()] { self->session_->Stop(); });
  const bool ended = AwaitEnd(deadline);
  if (record_ != nullptr) record_->Fail(absl::OkStatus());
  if (play_ != nullptr) play_->End(absl::CancelledError("the player was closed"));
  // Until then the proxy lets streams go on.
  const auto now = dataplane::Deadline::In(absl::ZeroDuration());
  TD_RETURN_IF_ERROR(control().AwaitStreams(std::max(deadline, now) + kCloseTime));
  if (!ended) return absl::DeadlineExceededError("the storage node has not ended the session");
  return absl::OkStatus();
}

void SlotSession::Close(dataplane::Deadline deadline) {
  absl::Status ended = EndAll(deadline);
  // What is on a device that has failed is gone anyway.
  if (ended.ok() || (snapshot().ended && !environment_.device->health().status().ok())) {
    environment_.proxy->Leave(watched());
    const auto passed = std::make_shared<absl::Notification>();
    environment_.executor->Post([passed] { passed->Notify(); });
    if (dataplane::AwaitFor(*passed, kLetGoTime)) return;
    ended.Update(absl::DeadlineExceededError("the deck's thread does not answer"));
  }
  dataplane::Log(dataplane::LogLevel::kError, "api", "the program's slots stay in use for good",
                 {{"why", std::string(ended.message())}});
  static_cast<void>(new std::shared_ptr<SlotSession>(shared_from_this()));
}

}  // namespace tapedeck::gpu_worker::api
