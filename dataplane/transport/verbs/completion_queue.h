// A completion queue, and how its completions reach the poller. The queue looks for them at the end
// of each turn while they keep coming, and then waits for an event. On the rail's poller.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/verbs/port/objects.h"

namespace tapedeck::dataplane::verbs {

// Outlives the queue pairs that complete to it.
class CompletionQueue {
 public:
  using OnCompletion = std::function<void(const ibv_wc&)>;

  static absl::StatusOr<std::unique_ptr<CompletionQueue>> Create(EventLoop& poller,
                                                                 ibv_context* context, int depth);
  ~CompletionQueue();

  // `on_completion` gets all completions from this turn's end on, `batch` at most at once, until
  // Stop. It may call Stop, not Start, and must not destroy this.
  void Start(int batch, OnCompletion on_completion);

  // What has not been given stays in the queue for the next Start, except for the batch that is
  // being given.
  void Stop() { running_ = false; }

  // What was given is the first that the next Start gives.
  void GiveAgain(const ibv_wc& completion) { again_ = completion; }

  // Takes completions without waiting for a turn: for teardown.
  void Take(const std::function<void(const ibv_wc&)>& on_completion);

  ibv_cq* get() const { return cq_.get(); }

 private:
  CompletionQueue(EventLoop& poller, CompletionChannel channel)
      : poller_(poller), channel_(std::move(channel)) {}
  void OnEvents();
  void Awake();
  void Turn();
  bool Poll();

  EventLoop& poller_;
  CompletionChannel channel_;
  Cq cq_;
  OnCompletion on_completion_;
  std::optional<ibv_wc> again_;
  bool running_ = false;
  int batch_ = 1;
  bool awake_ = false;
  int64_t last_found_ns_ = 0;
  unsigned unacknowledged_ = 0;  // events
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane::verbs
