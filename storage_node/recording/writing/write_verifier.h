// The write verifier of a storage node (as of NFS, RFC 8881 section 18.32): 16 random bytes, new at
// every start and after any failed write or flush. Whoever sees a new one knows that blocks above
// the durable watermark may be gone.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/format/uuid.h"

namespace tapedeck::storage_node::recording {

// Any thread. Shared by the node and its writers.
class WriteVerifier {
 public:
  explicit WriteVerifier(format::Random random) : random_(std::move(random)) { Renew(); }

  void Renew() {
    absl::MutexLock lock(&mutex_);
    const uint64_t words[] = {random_(), random_()};
    value_.assign(sizeof(words), '\0');
    std::memcpy(value_.data(), words, sizeof(words));
  }

  std::string value() const {
    absl::MutexLock lock(&mutex_);
    return value_;
  }

 private:
  mutable absl::Mutex mutex_;
  const format::Random random_ ABSL_GUARDED_BY(mutex_);
  std::string value_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::recording
