#include "gpu_worker/device/health.h"

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::device {

absl::Status Health::Note(absl::Status status) {
  if (status.ok()) return status;
  const auto reason = services::ReasonOf(status);
  if (!reason.has_value() || reason->reason != "DEVICE_FAILED") return status;
  absl::MutexLock lock(&mutex_);
  if (!failed_.ok()) return failed_;
  failed_ = services::DeviceFailed(
      device_, absl::StrCat(device_, " has failed: ", status.message(),
                            "; it computes nothing more for this process: restart the worker"));
  dataplane::Log(dataplane::LogLevel::kError, "device", failed_.message());
  return failed_;
}

absl::Status Health::status() const {
  absl::MutexLock lock(&mutex_);
  return failed_;
}

}  // namespace tapedeck::gpu_worker::device
