#include "gpu_worker/pace/pacer.h"

#include <algorithm>
#include <utility>

#include "dataplane/deadline.h"
#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::pace {
namespace {

// A playback begins with what there is then, however few blocks: a slow node, or a device that
// holds few, shall not keep it for ever.
constexpr int64_t kPrefillNs = dataplane::kSecondNs / 4;

}  // namespace

absl::StatusOr<std::unique_ptr<Pacer>> Pacer::Create(PacerSettings parts) {
  std::unique_ptr<Pacer> pacer(new Pacer(std::move(parts)));
  TD_ASSIGN_OR_RETURN(pacer->thread_,
                      dataplane::StartThread("td-give", [raw = pacer.get()] { raw->Run(); }));
  return pacer;
}

Pacer::~Pacer() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void Pacer::Add(Arrived arrived) {
  arrived.ready_ns = parts_.timer->NowNs();
  const End end = [&] {
    absl::MutexLock lock(&mutex_);
    if (end_ == End::kNone) arrived_.push_back(std::move(arrived));
    return end_;
  }();
  if (end == End::kNone) return Wake();
  if (end == End::kAll) arrived.done();
}

void Pacer::NoMore() {
  {
    absl::MutexLock lock(&mutex_);
    last_arrived_ = true;
  }
  Wake();
}

void Pacer::Stop() {
  stop_ = true;
  parts_.timer->Wake();
}

void Pacer::Wake() {
  const bool wake = [this] {
    absl::MutexLock lock(&mutex_);
    return std::exchange(hungry_, false);
  }();
  if (wake) parts_.timer->Wake();
}

void Pacer::Run() {
  const absl::Status status = GiveAll();
  parts_.assembler.reset();  // blocks go back before anybody hears of the end
  std::deque<Arrived> unused;
  const bool all = status.ok() && !stop_;
  {
    absl::MutexLock lock(&mutex_);
    end_ = all ? End::kAll : End::kCut;
    unused.swap(arrived_);
  }
  for (Arrived& arrived : unused) {
    if (all) arrived.done();
  }
  unused.clear();
  parts_.on_end(status);
}

absl::Status Pacer::GiveAll() {
  while (!stop_) {
    TD_RETURN_IF_ERROR(TakeIn());
    const Piece* const piece = parts_.assembler->Next();
    if (piece != nullptr) {
      if (IsDue()) TD_RETURN_IF_ERROR(Give(*piece));
    } else if (ended_ || sated_) {
      return absl::OkStatus();
    } else {
      AwaitMore(INT64_MAX);
    }
  }
  return absl::OkStatus();
}

absl::Status Pacer::TakeIn() {
  std::deque<Arrived> arrived;
  bool last = false;
  {
    absl::MutexLock lock(&mutex_);
    arrived.swap(arrived_);
    last = last_arrived_;
  }
  if (taken_ == 0 && !arrived.empty()) first_taken_ns_ = arrived.front().ready_ns;
  taken_ += arrived.size();
  for (Arrived& one : arrived) TD_RETURN_IF_ERROR(parts_.assembler->Add(std::move(one)));
  parts_.plan.meter->Lost(parts_.assembler->lost());
  if (!sated_ && parts_.assembler->sated()) {
    sated_ = true;
    parts_.on_sated();
  }
  if (last && !std::exchange(ended_, true)) return parts_.assembler->End();
  return absl::OkStatus();
}

void Pacer::AwaitMore(int64_t deadline_ns) {
  {
    absl::MutexLock lock(&mutex_);
    if (!arrived_.empty() || last_arrived_ != ended_ || stop_) return;
    hungry_ = true;
  }
  parts_.timer->WaitUntil(deadline_ns);
  absl::MutexLock lock(&mutex_);
  hungry_ = false;
}

bool Pacer::Start() {
  Timer& timer = *parts_.timer;
  const Plan& plan = parts_.plan;
  int64_t start_ns = timer.NowNs();
  if (plan.at_ns != 0) {
    // Looked at again after each sleep: clocks are set.
    const int64_t left_ns = plan.at_ns - timer.WallNs();
    if (left_ns > 0) timer.WaitUntil(start_ns + std::min(left_ns, dataplane::kWallLookNs));
    const int64_t late_ns = timer.WallNs() - plan.at_ns;
    if (late_ns < 0) return false;
    // Else all that was due in between would go at once.
    start_ns = timer.NowNs() - (late_ns > kMostLateNs ? 0 : late_ns);
  } else if (plan.samples_per_s > 0 && !ended_ && !sated_ && taken_ < plan.prefill &&
             start_ns < first_taken_ns_ + kPrefillNs) {
    AwaitMore(first_taken_ns_ + kPrefillNs);
    return false;
  }
  started_ = true;
  schedule_ = Schedule(plan.samples_per_s, start_ns);
  return true;
}

bool Pacer::IsDue() {
  if (!started_ && !Start()) return false;
  const int64_t due_ns = schedule_.DueNs(given_);
  if (parts_.timer->NowNs() >= due_ns) return true;
  parts_.timer->WaitUntil(due_ns);
  return parts_.timer->NowNs() >= due_ns && !stop_;
}

absl::Status Pacer::Give(const Piece& piece) {
  const int64_t due_ns = schedule_.DueNs(given_);
  const int64_t now_ns = parts_.timer->NowNs();
  Meter& meter = *parts_.plan.meter;
  if (given_ == 0) meter.First(parts_.timer->WallNs());
  if (parts_.plan.samples_per_s > 0 && piece.ready_ns > due_ns) meter.Underrun();
  TD_RETURN_IF_ERROR(parts_.give(piece.header, piece.payload));
  given_ += piece.samples;
  meter.Turns(piece.turns);
  meter.Gave(piece.samples, now_ns - due_ns);
  parts_.assembler->Pop();
  return absl::OkStatus();
}

}  // namespace tapedeck::gpu_worker::pace
