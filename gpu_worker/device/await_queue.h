// Waits for what a queue was told.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "dataplane/executor/waiting.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::device {

// The error of what was enqueued so far, once it is done. Not on a session's executor.
inline absl::Status AwaitQueue(Queue& queue) {
  absl::Notification done;
  absl::Status result;
  queue.Then([&](absl::Status status) {
    result = std::move(status);
    done.Notify();
  });
  dataplane::MayWait("the device");
  done.WaitForNotification();
  return result;
}

}  // namespace tapedeck::gpu_worker::device
