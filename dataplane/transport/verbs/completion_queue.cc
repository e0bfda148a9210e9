#include "dataplane/transport/verbs/completion_queue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/port/limits.h"
#include "dataplane/transport/verbs/random.h"

namespace tapedeck::dataplane::verbs {

absl::StatusOr<std::unique_ptr<CompletionQueue>> CompletionQueue::Create(EventLoop& poller,
                                                                         ibv_context* context,
                                                                         int depth) {
  TD_ASSIGN_OR_RETURN(CompletionChannel channel, CreateCompletionChannel(context));
  auto queue = std::unique_ptr<CompletionQueue>(new CompletionQueue(poller, std::move(channel)));
  TD_ASSIGN_OR_RETURN(queue->cq_, CreateCq(context, depth, queue->channel_.get(),
                                           static_cast<uint32_t>(Random64())));
  CompletionQueue* const raw = queue.get();
  TD_RETURN_IF_ERROR(poller.Watch(raw->channel_->fd, EPOLLIN,
                                  raw->lifetime_.Guard([raw](uint32_t) { raw->OnEvents(); })));
  return queue;
}

CompletionQueue::~CompletionQueue() {
  poller_.Unwatch(channel_->fd);
  // The destruction waits until every event that was taken is acknowledged.
  if (cq_ != nullptr) ibv_ack_cq_events(cq_.get(), unacknowledged_);
}

void CompletionQueue::Start(int batch, OnCompletion on_completion) {
  batch_ = std::min(batch, kPollBatch);
  on_completion_ = std::move(on_completion);
  running_ = true;
  Awake();
}

void CompletionQueue::OnEvents() {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_.get(), &cq, &context) == 0) {
    if (++unacknowledged_ < kEventAckBatch) continue;
    ibv_ack_cq_events(cq, std::exchange(unacknowledged_, 0));
  }
  Awake();
}

// A task that renews itself at the end of a turn keeps the loop from sleeping.
void CompletionQueue::Awake() {
  if (std::exchange(awake_, true)) return;
  last_found_ns_ = poller_.clock().NowNs();
  poller_.AtEndOfTurn(lifetime_.Guard([this] { Turn(); }));
}

void CompletionQueue::Turn() {
  if (!running_) {
    awake_ = false;
    return;
  }
  const int64_t now_ns = poller_.clock().NowNs();
  if (Poll()) {
    last_found_ns_ = now_ns;
  } else if (now_ns - last_found_ns_ >= kSpinNs) {
    // What completes between the last look and the request for an event makes no event.
    ibv_req_notify_cq(cq_.get(), 0);
    if (!Poll()) {
      awake_ = false;
      return;
    }
    last_found_ns_ = now_ns;
  }
  poller_.AtEndOfTurn(lifetime_.Guard([this] { Turn(); }));
}

bool CompletionQueue::Poll() {
  if (!running_) return false;
  if (again_.has_value()) {
    on_completion_(*std::exchange(again_, std::nullopt));
    return true;
  }
  std::array<ibv_wc, kPollBatch> completions;
  const int n = ibv_poll_cq(cq_.get(), batch_, completions.data());
  for (int i = 0; i < n && running_; ++i) on_completion_(completions[i]);
  return n > 0;
}

void CompletionQueue::Take(const std::function<void(const ibv_wc&)>& on_completion) {
  if (again_.has_value()) on_completion(*std::exchange(again_, std::nullopt));
  std::array<ibv_wc, kPollBatch> completions;
  const int n = ibv_poll_cq(cq_.get(), kPollBatch, completions.data());
  for (int i = 0; i < n; ++i) on_completion(completions[i]);
}

}  // namespace tapedeck::dataplane::verbs
