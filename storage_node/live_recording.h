// A recording while it is written, as others see it: how far it is, and when it is closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/format/manifest.h"
#include "storage_node/tail.h"

namespace tapedeck::storage_node {

// Any thread. Shared by the writer and whoever looks.
class LiveRecording {
 public:
  // For the catalog.
  std::atomic<uint64_t> blocks = 0;
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> missing_blocks = 0;
  std::atomic<uint64_t> durable = 0;

  // For followers: the newest blocks.
  const std::shared_ptr<Tail> tail = std::make_shared<Tail>();

  // Every block below can be read from the recording's files.
  uint64_t written() const { return written_; }

  // What the recording was closed with; null while it is written. If the writer went without
  // closing it, that ends at the last block written.
  std::shared_ptr<const format::Manifest> closed() const {
    absl::MutexLock lock(&mutex_);
    return closed_;
  }

  // Adds a marker, which the writer keeps. False if it has begun to close the recording.
  bool Annotate(services::Annotation annotation) {
    absl::MutexLock lock(&mutex_);
    if (closing_) return false;
    annotations_.push_back(std::move(annotation));
    if (on_annotated_) on_annotated_();
    return true;
  }
  std::vector<services::Annotation> annotations() const {
    absl::MutexLock lock(&mutex_);
    return annotations_;
  }

  // Whether it is kept whatever the LUN's policy says. False if the writer has begun to close it.
  bool Keep(bool kept) {
    absl::MutexLock lock(&mutex_);
    if (closing_) return false;
    kept_ = kept;
    if (on_annotated_) on_annotated_();
    return true;
  }
  bool kept() const { return kept_; }

  // By the writer. `on_annotated` only posts; null: no more markers are taken.
  void SetAnnotated(std::function<void()> on_annotated) {
    absl::MutexLock lock(&mutex_);
    closing_ = on_annotated == nullptr;
    on_annotated_ = std::move(on_annotated);
  }
  void SetWritten(uint64_t watermark) {
    if (written_.exchange(watermark) != watermark) WakeFollowers();
  }
  void Close(format::Manifest manifest) {
    {
      absl::MutexLock lock(&mutex_);
      if (closed_ != nullptr) return;
      closed_ = std::make_shared<const format::Manifest>(std::move(manifest));
    }
    WakeFollowers();
  }

  // Calls `waker`, which only posts, whenever written() or closed() has changed, until Unfollow.
  uint64_t Follow(std::function<void()> waker) {
    absl::MutexLock lock(&mutex_);
    followers_.emplace(next_follower_, std::move(waker));
    return next_follower_++;
  }
  void Unfollow(uint64_t follower) {
    absl::MutexLock lock(&mutex_);
    followers_.erase(follower);
  }

 private:
  void WakeFollowers() {
    absl::MutexLock lock(&mutex_);
    for (const auto& [number, waker] : followers_) waker();
  }

  std::atomic<uint64_t> written_ = 0;
  std::atomic<bool> kept_ = false;
  mutable absl::Mutex mutex_;
  std::vector<services::Annotation> annotations_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_annotated_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const format::Manifest> closed_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::function<void()>> followers_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_follower_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tapedeck::storage_node
