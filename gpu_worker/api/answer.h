// From the errors of the rooms to those that programs see.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "dataplane/reason.h"
#include "gpu_worker/api/include/tapedeck/status.h"

namespace tapedeck::gpu_worker::api {

inline Status ToStatus(const absl::Status& status) {
  if (status.ok()) return Status();
  const auto reason = dataplane::ReasonOf(status);
  return Status(reason.has_value() ? reason->reason : absl::StatusCodeToString(status.code()),
                std::string(status.message()));
}

template <typename T>
Result<T> ToResult(absl::StatusOr<T> value) {
  if (!value.ok()) return ToStatus(value.status());
  return *std::move(value);
}

// A wait has an end: an hour at most.
inline dataplane::Deadline DeadlineIn(std::chrono::nanoseconds timeout) {
  const absl::Duration wait = absl::FromChrono(timeout);
  return dataplane::Deadline::In(std::clamp(wait, absl::ZeroDuration(), absl::Hours(1)));
}

}  // namespace tapedeck::gpu_worker::api
