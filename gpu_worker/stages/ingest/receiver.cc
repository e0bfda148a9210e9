#include "gpu_worker/stages/ingest/receiver.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::ingest {

using dataplane::Flow;

namespace {

// After the end of a stream, for packets that it has overtaken. More than networks keep one.
constexpr int64_t kOvertakenNs = 100 * dataplane::kMillisecondNs;

}  // namespace

absl::StatusOr<std::unique_ptr<Receiver>> Receiver::Create(ReceiverParts parts) {
  dataplane::Fd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (stop.get() < 0) {
    return services::LimitReached("RLIMIT_NOFILE", "descriptors of the process",
                                  absl::StrCat("eventfd: ", strerror(errno)));
  }
  std::unique_ptr<Receiver> receiver(new Receiver(std::move(parts), std::move(stop)));
  TD_ASSIGN_OR_RETURN(
      receiver->thread_,
      dataplane::StartThread("td-ingest", [self = receiver.get()] { self->Run(); }));
  return receiver;
}

Receiver::Receiver(ReceiverParts parts, dataplane::Fd stop)
    : parts_(std::move(parts)),
      stop_event_(std::move(stop)),
      placement_({.block_bytes = parts_.block_bytes,
                  .sample_bytes = parts_.sample_bytes,
                  .take = [this] { return TakeSlot(); },
                  .give = [this](Placed placed) { Give(std::move(placed)); }}),
      jumps_({.block_samples = parts_.block_bytes / parts_.sample_bytes,
              .sample_bytes = parts_.sample_bytes,
              .sample_rate = parts_.sample_rate,
              .counts = parts_.counts,
              .restarted = parts_.restarted},
             placement_, clock_) {
  parts_.slots->SetWaker([this] {
    absl::MutexLock lock(&mutex_);
    slot_free_ = true;
  });
}

Receiver::~Receiver() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  eventfd_write(stop_event_.get(), 1);
  if (thread_.joinable()) thread_.join();
  parts_.slots->SetWaker(nullptr);
}

void Receiver::EndNow() {
  {
    absl::MutexLock lock(&mutex_);
    end_now_ = true;
  }
  eventfd_write(stop_event_.get(), 1);
}

void Receiver::SetWaker(dataplane::Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

absl::StatusOr<Flow> Receiver::Take(Placed* placed) {
  absl::MutexLock lock(&mutex_);
  if (!placed_.empty()) {
    *placed = std::move(placed_.front());
    placed_.pop_front();
    return Flow::kMoved;
  }
  hungry_ = !ended_;
  if (!ended_) return Flow::kNotNow;
  if (!status_.ok()) return status_;
  return Flow::kEnd;
}

absl::Status Receiver::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

void Receiver::Run() {
  deadline_ns_ = clock_.NowNs() + parts_.timeout_ns;
  for (bool late = false; true;) {
    const int64_t until_at_ns = parts_.at_ns == 0 ? 0 : parts_.at_ns - clock_.WallNs();
    const bool early = until_at_ns > 0;
    if (early) deadline_ns_ = clock_.NowNs() + until_at_ns + parts_.timeout_ns;
    const int64_t look_ns = early ? clock_.NowNs() + dataplane::kWallLookNs : deadline_ns_;
    const bool readable = !late && Await(std::min(deadline_ns_, look_ns));
    bool end_now = false;
    {
      absl::MutexLock lock(&mutex_);
      if (stop_) return;
      end_now = end_now_;
    }
    if (end_now) return EndWell(Ending::kStopped);
    if (early && !readable) continue;
    if (!readable) return EndSilent();
    const absl::StatusOr<Flow> flow = ReadOnce();
    if (!flow.ok()) return End(flow.status());
    if (*flow == Flow::kEnd) return EndWell(end_.has_value() ? Ending::kMark : Ending::kClosed);
    late = clock_.NowNs() >= deadline_ns_;  // strangers may keep it readable
  }
}

// False once there is nothing to read at the deadline.
bool Receiver::Await(int64_t deadline_ns) {
  pollfd watched[] = {{.fd = parts_.packet_source->fd(), .events = POLLIN},
                      {.fd = stop_event_.get(), .events = POLLIN}};
  constexpr timespec kAtOnce{};
  if (ppoll(watched, std::size(watched), &kAtOnce, nullptr) > 0) return true;
  while (true) {
    const int64_t left_ns = std::max<int64_t>(deadline_ns - clock_.NowNs(), 0);
    const timespec left{.tv_sec = left_ns / dataplane::kSecondNs,
                        .tv_nsec = left_ns % dataplane::kSecondNs};
    const int ready = ppoll(watched, std::size(watched), &left, nullptr);
    jumps_.CaughtUp();
    if (ready > 0) return true;
    if (ready == 0 && left_ns == 0) return false;
  }
}

absl::StatusOr<Flow> Receiver::ReadOnce() {
  const uint64_t before = placement_.taken();
  auto flow =
      parts_.packet_source->Read([this](std::span<const std::byte> bytes) { OnPacket(bytes); });
  parts_.counts->samples = placement_.taken();
  parts_.counts->dropped = parts_.packet_source->dropped();
  if (placement_.taken() != before) NoteArrival(before == 0);
  if (!flow.ok()) return flow;
  if (end_.has_value()) return placement_.IsWhole(*end_) ? Flow::kEnd : *flow;
  if (placement_.taken() != before) deadline_ns_ = last_came_ns_ + parts_.timeout_ns;
  return flow;
}

void Receiver::OnPacket(std::span<const std::byte> bytes) {
  ++parts_.counts->packets;
  if (CameEarly(bytes)) {
    ++parts_.counts->early;
    return;
  }
  const Packet packet = parts_.reader->Read(bytes, jumps_.SoFarNow());
  if (packet.clock_step_s.has_value()) OnClockStep(packet.position, *packet.clock_step_s);
  if (packet.other_rate.has_value()) parts_.counts->other_rate = *packet.other_rate;
  if (packet.other_format.has_value()) parts_.counts->other_format = *packet.other_format;
  for (const auto& [told, text] : packet.changes) {
    const int64_t position = jumps_.PositionOf(told);
    if (position >= 0) parts_.marks->Tell(static_cast<uint64_t>(position), text);
  }
  switch (packet.is) {
    case Packet::Is::kSamples:
      if (packet.uncut) parts_.counts->uncut = true;
      if (!std::exchange(begun_, true)) NoteBegin();
      return jumps_.Place(packet.position, packet.samples);
    case Packet::Is::kContext:
      return;
    case Packet::Is::kEarly:
      ++parts_.counts->early;
      return;
    case Packet::Is::kEnd:
      if (end_.has_value()) return;
      end_ = jumps_.EndAt(packet.position);
      deadline_ns_ = clock_.NowNs() + kOvertakenNs;
      return;
    case Packet::Is::kForeign:
      ++parts_.counts->foreign;
      return;
    case Packet::Is::kMalformed:
      ++parts_.counts->malformed;
      return;
  }
}

void Receiver::OnClockStep(int64_t told, double step_s) {
  ++parts_.counts->clock_sets;
  const int64_t position = jumps_.PositionOf(told);
  if (position >= 0) parts_.marks->TellClockStep(static_cast<uint64_t>(position), step_s);
}

void Receiver::NoteArrival(bool first) {
  last_came_ns_ = clock_.NowNs();
  if (!first) return;
  first_came_ns_ = last_came_ns_;
  first_came_ = placement_.newest();
}

// Times of packets themselves need no clock of ours.
void Receiver::NotePace() {
  if (!begun_ || parts_.reader->begin_ns().has_value()) return;
  parts_.counts->seen_rate = OtherPace(placement_.newest() - first_came_,
                                       last_came_ns_ - first_came_ns_, parts_.sample_rate);
}

void Receiver::NoteBegin() {
  const auto stamp_ns = parts_.reader->begin_ns();
  absl::MutexLock lock(&mutex_);
  begin_ns_ = stamp_ns.value_or(clock_.WallNs());
}

std::optional<int64_t> Receiver::begin_ns() const {
  absl::MutexLock lock(&mutex_);
  return begin_ns_;
}

bool Receiver::CameEarly(std::span<const std::byte> bytes) const {
  return parts_.at_ns != 0 && clock_.WallNs() < parts_.at_ns && !parts_.reader->TellsUtc(bytes);
}

void Receiver::EndSilent() {
  if (end_.has_value()) return EndWell(Ending::kMark);
  if (placement_.taken() > 0 && !parts_.silence_fails) return EndWell(Ending::kSilence);
  End(Silent());
}

void Receiver::EndWell(Ending ending) {
  parts_.counts->ending = ending;
  End(absl::OkStatus());
}

absl::Status Receiver::Silent() const {
  return services::WithReason(absl::DeadlineExceededError(absl::StrCat(
                                  "ingest: no samples came to ", parts_.address, " for ",
                                  absl::FormatDuration(absl::Nanoseconds(parts_.timeout_ns)), "; ",
                                  TextOf(*parts_.counts))),
                              "SOURCE_SILENT", {{"source", parts_.address}});
}

// A stream that broke off has what came of it.
void Receiver::End(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    status_ = status;  // the last block is given with it
  }
  NotePace();
  jumps_.Finish();
  placement_.End(status.ok() ? end_ : std::nullopt);
  absl::MutexLock lock(&mutex_);
  ended_ = true;
  Wake();
}

// Waits for the pipeline; who ends that ends this.
std::optional<dataplane::Block> Receiver::TakeSlot() {
  while (true) {
    if (auto slot = parts_.slots->Take(); slot.has_value()) return slot;
    absl::MutexLock lock(&mutex_);
    const auto may_go_on = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return slot_free_ || stop_;
    };
    dataplane::AwaitFor(mutex_, absl::Condition(&may_go_on), absl::Seconds(1));
    if (stop_) return std::nullopt;
    slot_free_ = false;
  }
}

void Receiver::Give(Placed placed) {
  absl::MutexLock lock(&mutex_);
  placed_.push_back(std::move(placed));
  Wake();
}

void Receiver::Wake() {
  if (!std::exchange(hungry_, false)) return;
  if (waker_) waker_();
}

}  // namespace tapedeck::gpu_worker::stages::ingest
