// The thread that acts for streams: it sees what they have set in host memory, and hands blocks to
// and from sessions. A store of a GPU wakes no thread that sleeps, so it looks.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::gpu_worker::api {

class Watched {
 public:
  virtual ~Watched() = default;

  // On the proxy's thread, again and again: acts on what streams have set. Does not wait. Whether
  // there was something.
  virtual bool Look() = 0;
  // Whether a stream may set something soon. Any thread.
  virtual bool expects() const = 0;
};

enum class ProxyMode {
  kPerformance,  // looks without a pause while there is anything to watch: a core of its own
  kEconomy,      // looks some thousand times a second while streams have something to send
};

// Any thread.
class Proxy {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<Proxy>> Create(ProxyMode mode);
  ~Proxy();

  void Watch(std::shared_ptr<Watched> watched) ABSL_LOCKS_EXCLUDED(mutex_);
  // Once this returns, no look at it is under way.
  void Leave(const Watched& watched) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  explicit Proxy(ProxyMode mode) : mode_(mode) {}

  void Run();
  // Whether one of them had something to do.
  bool LookAtAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Expects() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasSome() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !watched_.empty(); }

  const ProxyMode mode_;
  mutable absl::Mutex mutex_;
  std::vector<std::shared_ptr<Watched>> watched_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::gpu_worker::api
