// The recordings that are being written, for those that follow, mark or keep them.
#pragma once

#include <map>
#include <memory>
#include <string>

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

 private:
  absl::Mutex mutex_;
  std::map<std::string, std::weak_ptr<recording::LiveRecording>> recordings_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::recordings
