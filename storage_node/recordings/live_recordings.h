// The recordings under way, for callers that follow, mark or keep them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/recording/live_recording.h"

namespace tapedeck::storage_node::recordings {

// By name. Any thread.
class LiveRecordings {
 public:
  void Add(const std::string& name, const std::shared_ptr<recording::LiveRecording>& recording) {
    absl::MutexLock lock(&mutex_);
    std::erase_if(recordings_, [](const auto& entry) { return entry.second.expired(); });
    recordings_[name] = recording;
  }
  // Null if nobody writes it.
  std::shared_ptr<recording::LiveRecording> Find(const std::string& name) {
    absl::MutexLock lock(&mutex_);
    const auto it = recordings_.find(name);
    return it == recordings_.end() ? nullptr : it->second.lock();
  }

  // Those that are being written.
  std::vector<std::pair<std::string, std::shared_ptr<recording::LiveRecording>>> All() const {
    absl::MutexLock lock(&mutex_);
    std::vector<std::pair<std::string, std::shared_ptr<recording::LiveRecording>>> all;
    for (const auto& [name, recording] : recordings_) {
      if (auto live = recording.lock(); live != nullptr && live->closed() == nullptr) {
        all.emplace_back(name, std::move(live));
      }
    }
    return all;
  }

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, std::weak_ptr<recording::LiveRecording>> recordings_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::recordings
