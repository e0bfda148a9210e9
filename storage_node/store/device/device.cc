#include "storage_node/store/device/device.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::store::device {

absl::Status Device::Flush() {
  {
    absl::MutexLock lock(&mutex_);
    if (!broken_.ok()) return broken_;
  }
  const absl::Status status = Sync();
  absl::MutexLock lock(&mutex_);
  broken_.Update(status);
  return broken_;
}

absl::Status Device::Look() {
  TD_RETURN_IF_ERROR(LookAtPath());
  absl::MutexLock lock(&mutex_);
  return broken_;
}

void Device::FlushSoon(Flushed done) {
  {
    absl::MutexLock lock(&mutex_);
    flushes_.push_back(std::move(done));
    if (flushes_.size() > 1) return;
  }
  Run(Thread::kSync, [this] { FlushForAll(); });
}

void Device::FlushForAll() {
  std::vector<Flushed> flushes;
  {
    absl::MutexLock lock(&mutex_);
    flushes.swap(flushes_);
  }
  const absl::Status status = Flush();
  for (Flushed& done : flushes) done(status);
}

}  // namespace tapedeck::storage_node::store::device
