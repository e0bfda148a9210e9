// The sessions whose stamps lie in this process's rings: which number has whose stamps, what its
// links are, and how far the other end's clock is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/flight/stamp.h"
#include "services/observe/flight/peer_clock.h"

namespace tapedeck::services::flight {

// In plain values.
struct TrailInfo {
  uint32_t id = 0;
  std::string session;  // the storage node's name of it, once it is open
  std::string job;      // of a worker
  std::string storage;  // of a worker: HOST:PORT of the storage node
  std::string recording;
  bool playback = false;
  bool reads = false;               // payloads are read by the receiver
  std::vector<std::string> rails;   // of each link
  std::vector<ClockSample> clocks;  // of the other end
  bool operator==(const TrailInfo&) const = default;
};

// What is known of a session once it is open.
struct Opening {
  std::string session;
  std::string recording;
  bool playback = false;
  bool reads = false;
};

// Told of a session that has failed.
using OnFailed = std::function<void(const TrailInfo&, const absl::Status& cause)>;

// Of one session. Shared by whoever carries it and whoever looks. Any thread.
class TrailRecord {
 public:
  explicit TrailRecord(TrailInfo info, OnFailed on_failed = nullptr)
      : id_(info.id), on_failed_(std::move(on_failed)), info_(std::move(info)) {}

  dataplane::flight::Trail trail() const { return dataplane::flight::Trail(id_); }
  TrailInfo info() const;

  void Opened(Opening opening);
  void AddLink(size_t index, const std::string& rail);

  // Leaves the last stamp and a dump, but of a session that was only cancelled.
  void Failed(const absl::Status& cause) const;

  ClockReading SendClock(int64_t now_ns) const;
  void HeardClock(const ClockReading& reading, int64_t now_ns);

 private:
  const uint32_t id_;
  const OnFailed on_failed_;
  mutable absl::Mutex mutex_;
  TrailInfo info_ ABSL_GUARDED_BY(mutex_);
  PeerClock clock_ ABSL_GUARDED_BY(mutex_);
};

// Owned by main; any thread.
class Trails {
 public:
  // Those of the newest sessions are kept: with fewer, those of a busy minute would have no names.
  static constexpr size_t kMaxTrails = 256;

  // For sessions from now on; before the first.
  void SetOnFailed(OnFailed on_failed);

  // Without id.
  std::shared_ptr<TrailRecord> New(TrailInfo info);

  // Oldest first.
  std::vector<TrailInfo> All() const;

 private:
  mutable absl::Mutex mutex_;
  OnFailed on_failed_ ABSL_GUARDED_BY(mutex_);
  uint32_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::shared_ptr<TrailRecord>> records_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::flight
