// When the certificate of this program ends, for the page of metrics, which must not wait for a
// disk.
#pragma once

#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/rpc/identity/tls/tls_files.h"

namespace tapedeck::services::identity {

// Any thread; one of its own looks at the files every ten seconds.
class ExpiryWatch {
 public:
  // `expires` is what the files say now.
  static absl::StatusOr<std::unique_ptr<ExpiryWatch>> Create(
      TlsFiles files, absl::Time expires, absl::Duration look_every = absl::Seconds(10));
  ~ExpiryWatch();

  // Of the last files that could be used.
  absl::Time expires() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  ExpiryWatch(TlsFiles files, absl::Time expires) : files_(std::move(files)), expires_(expires) {}

  void Watch(absl::Duration look_every) ABSL_LOCKS_EXCLUDED(mutex_);

  const TlsFiles files_;
  mutable absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time expires_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tapedeck::services::identity
