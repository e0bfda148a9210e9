// What sessions that failed leave by themselves: the stamps of their last seconds, each in a file
// beneath the state directory. The newest few are kept; only files with our mark are removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/flight/rings.h"
#include "services/base/rate_limiter.h"
#include "services/base/threads/task_thread.h"
#include "services/observe/flight/trace.h"

namespace tapedeck::services::flight {

// With fewer, the dump of the first of several failures is gone before anybody looks.
inline constexpr size_t kMaxDumps = 16;
// 4 MiB: beyond any session's last seconds but those of the smallest blocks.
inline constexpr size_t kMaxDumpPages = 8;
inline constexpr int64_t kDumpNs = 10'000'000'000;
// Sessions that fail while others are being written leave nothing beyond so many.
inline constexpr size_t kMaxDumpsWaiting = 8;
// After as many at once one in so long: whoever makes sessions fail wears out no disk by it, and
// pushes out no older dumps at once.
inline constexpr int64_t kDumpPauseNs = 10'000'000'000;

struct DumpSettings {
  std::string directory;  // made when the first dump is
  std::string node;
  NodeRole role = NodeRole::kStorage;
  TraceCodec codec;
  int64_t pause_ns = kDumpPauseNs;
};

// Owned by main. Any thread.
class Dumps {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<Dumps>> Create(DumpSettings settings,
                                                       const dataplane::flight::Rings& rings);

  // The path of the file that is being written from now on; empty: too many are.
  std::string Leave(const TrailInfo& trail, const absl::Status& cause);

  // Of those there are, oldest first.
  std::vector<std::string> Names() const;

  // A page of one of them. NOT_FOUND: there is none of that name. DATA_LOSS.
  absl::StatusOr<TracePage> Read(const std::string& name, const std::string& page_token) const;

 private:
  Dumps(DumpSettings settings, const dataplane::flight::Rings& rings,
        std::shared_ptr<TaskQueue> tasks, std::unique_ptr<TaskThread> thread)
      : settings_(std::move(settings)),
        rings_(rings),
        tasks_(std::move(tasks)),
        thread_(std::move(thread)) {}

  // Whether a further one is left now.
  bool MayLeave() ABSL_LOCKS_EXCLUDED(mutex_);
  // On the thread.
  void Write(const std::string& path, const TrailInfo& trail, const absl::Status& cause) const;
  std::string Encode(const TrailInfo& trail, const absl::Status& cause) const;
  void RemoveOldest() const;

  const DumpSettings settings_;
  const dataplane::flight::Rings& rings_;
  const std::shared_ptr<TaskQueue> tasks_;
  absl::Mutex mutex_;
  RateLimiter limiter_ ABSL_GUARDED_BY(mutex_);
  const std::unique_ptr<TaskThread> thread_;  // ends first
};

}  // namespace tapedeck::services::flight
