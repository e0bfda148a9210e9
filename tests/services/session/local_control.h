// Two ends of a control stream between threads of one process.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "services/session/protocol/control.h"

namespace tapedeck::services::session {

class LocalControl final : public ControlStream {
 public:
  static std::pair<std::unique_ptr<ControlStream>, std::unique_ptr<ControlStream>> Pair() {
    auto a = std::make_shared<End>();
    auto b = std::make_shared<End>();
    return {std::make_unique<LocalControl>(a, b), std::make_unique<LocalControl>(b, a)};
  }

  struct End {
    absl::Mutex mutex;
    ControlEvents* events ABSL_GUARDED_BY(mutex) = nullptr;
    dataplane::Executor* executor ABSL_GUARDED_BY(mutex) = nullptr;
    std::vector<dataplane::Task> early ABSL_GUARDED_BY(mutex);
    bool closed = false;  // on the executor: no event follows
  };

  LocalControl(std::shared_ptr<End> own, std::shared_ptr<End> peer)
      : own_(std::move(own)), peer_(std::move(peer)) {}

  ~LocalControl() override {
    own_->closed = true;
    PostTo(
        peer_, [](ControlEvents& e) { e.OnClosed(absl::UnavailableError("the peer is gone")); },
        true);
  }

  void Start(ControlEvents* events, dataplane::Executor* executor) override {
    absl::MutexLock lock(&own_->mutex);
    own_->events = events;
    own_->executor = executor;
    for (dataplane::Task& task : own_->early) executor->Post(std::move(task));
    own_->early.clear();
  }

  void Send(const Message& message) override {
    PostTo(
        peer_, [message](ControlEvents& e) { e.OnMessage(message); }, false);
  }

  void Close(const absl::Status& status) override {
    PostTo(
        own_, [](ControlEvents& e) { e.OnClosed(absl::OkStatus()); }, true);
    PostTo(
        peer_, [status](ControlEvents& e) { e.OnClosed(status); }, true);
  }

 private:
  template <typename F>
  static void PostTo(const std::shared_ptr<End>& to, F f, bool last) {
    auto task = [to, f, last] {
      ControlEvents* events;
      {
        absl::MutexLock lock(&to->mutex);
        events = to->events;
      }
      if (to->closed) return;
      to->closed = last;
      f(*events);
    };
    absl::MutexLock lock(&to->mutex);
    if (to->executor == nullptr) {
      to->early.push_back(std::move(task));
    } else {
      to->executor->Post(std::move(task));
    }
  }

  const std::shared_ptr<End> own_;
  const std::shared_ptr<End> peer_;
};

}  // namespace tapedeck::services::session
