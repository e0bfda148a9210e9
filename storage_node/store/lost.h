// What is open and was found to be gone: the kernel takes what is written to it all the same.
#pragma once

#include <atomic>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::storage_node::store {

// INTERNAL (STORE_IO): `what` has happened to `member`, or to what one recording has there.
absl::Status MemberVanished(const std::string& member, absl::string_view what);
absl::Status RecordingVanished(const std::string& member, absl::string_view what);

// Of one recording's open files. Any thread.
class Lost {
 public:
  // The first time counts.
  void Set(const absl::Status& why);

  // Calls `tell` once, when or if it is set; on the thread that sets it, or on this one.
  void OnSet(absl::AnyInvocable<void(absl::Status)> tell);

  // OK until it is set.
  absl::Status status() const;

 private:
  std::atomic<bool> set_ = false;
  mutable absl::Mutex mutex_;
  absl::Status why_ ABSL_GUARDED_BY(mutex_);
  absl::AnyInvocable<void(absl::Status)> tell_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::store
