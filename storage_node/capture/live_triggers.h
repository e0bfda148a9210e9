// The sessions of a node that wait for triggers, or are not ready for them yet.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "services/session/serving/host.h"
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
  // A session that is being admitted and gets a port then. It counts as long as `watch` is there.
  void AddPreparing(const std::string& channel,
                    const std::shared_ptr<services::session::AdmissionWatch>& watch) {
    absl::MutexLock lock(&mutex_);
    std::erase_if(preparing_, [](const auto& entry) { return entry.second.expired(); });
    preparing_.emplace(channel, watch);
  }
  // It has its port, or never gets one.
  void EndPreparing(const std::string& channel, const services::session::AdmissionWatch& watch) {
    absl::MutexLock lock(&mutex_);
    std::erase_if(preparing_, [&](const auto& entry) {
      return entry.first == channel && entry.second.lock().get() == &watch;
    });
  }
  // What such a session waits for; none: there is no such session.
  std::optional<std::string> Phase(const std::string& channel) {
    absl::MutexLock lock(&mutex_);
    const auto [first, last] = preparing_.equal_range(channel);
    for (auto it = first; it != last; ++it) {
      if (const auto watch = it->second.lock(); watch != nullptr && !watch->left()) {
        return watch->phase().first;
      }
    }
    return std::nullopt;
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
  std::multimap<std::string, std::weak_ptr<services::session::AdmissionWatch>> preparing_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::capture
