#include "services/observe/flight/trails.h"

#include <utility>

namespace tapedeck::services::flight {
namespace {

// A session has at most eight connections on each of its rails. More has no name.
constexpr size_t kMaxLinks = 256;

}  // namespace

TrailInfo TrailRecord::info() const {
  absl::MutexLock lock(&mutex_);
  TrailInfo info = info_;
  info.clocks = clock_.samples();
  return info;
}

void TrailRecord::Opened(Opening opening) {
  absl::MutexLock lock(&mutex_);
  info_.session = std::move(opening.session);
  info_.recording = std::move(opening.recording);
  info_.playback = opening.playback;
  info_.reads = opening.reads;
}

void TrailRecord::Failed(const absl::Status& cause) const {
  if (absl::IsCancelled(cause)) return;
  trail().Stamp(dataplane::flight::Kind::kSessionFailed, {});
  if (on_failed_) on_failed_(info(), cause);
}

void TrailRecord::AddLink(size_t index, const std::string& rail) {
  absl::MutexLock lock(&mutex_);
  if (index >= kMaxLinks) return;
  if (info_.rails.size() <= index) info_.rails.resize(index + 1);
  info_.rails[index] = rail;
}

ClockReading TrailRecord::SendClock(int64_t now_ns) const {
  absl::MutexLock lock(&mutex_);
  return clock_.Send(now_ns);
}

void TrailRecord::HeardClock(const ClockReading& reading, int64_t now_ns) {
  absl::MutexLock lock(&mutex_);
  clock_.Heard(reading, now_ns);
}

void Trails::SetOnFailed(OnFailed on_failed) {
  absl::MutexLock lock(&mutex_);
  on_failed_ = std::move(on_failed);
}

std::shared_ptr<TrailRecord> Trails::New(TrailInfo info) {
  absl::MutexLock lock(&mutex_);
  info.id = ++last_id_;
  auto record = std::make_shared<TrailRecord>(std::move(info), on_failed_);
  if (records_.size() == kMaxTrails) records_.pop_front();
  records_.push_back(record);
  return record;
}

std::vector<TrailInfo> Trails::All() const {
  absl::MutexLock lock(&mutex_);
  std::vector<TrailInfo> all;
  for (const auto& record : records_) all.push_back(record->info());
  return all;
}

}  // namespace tapedeck::services::flight
