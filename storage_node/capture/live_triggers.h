// The sessions of a node that wait for triggers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/capture/trigger_port.h"

namespace tapedeck::storage_node::capture {

// By channel. Any thread.
class LiveTriggers {
 public:
  void Add(const std::string& channel, const std::shared_ptr<TriggerPort>& port) {
    absl::MutexLock lock(&mutex_);
    std::erase_if(ports_, [](const auto& entry) { return entry.second.expired(); });
    ports_.emplace(channel, port);
  }
  std::vector<std::shared_ptr<TriggerPort>> Find(const std::string& channel) {
    absl::MutexLock lock(&mutex_);
    std::vector<std::shared_ptr<TriggerPort>> found;
    const auto [first, last] = ports_.equal_range(channel);
    for (auto it = first; it != last; ++it) {
      if (auto port = it->second.lock()) found.push_back(std::move(port));
    }
    return found;
  }

 private:
  absl::Mutex mutex_;
  std::multimap<std::string, std::weak_ptr<TriggerPort>> ports_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::capture
