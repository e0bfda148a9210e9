// A sink between its session and the product's: knows which blocks it has taken.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "dataplane/block/sink.h"

namespace tapedeck::sim {

struct SinkEvents {
  std::function<void(const dataplane::BlockHeader&)> on_taken;  // for the first time
  std::function<void()> on_again;
  std::function<void()> on_held_back;
};

// Owned by whoever plays the session; one thread.
class WatchedSink final : public dataplane::Sink {
 public:
  WatchedSink(std::unique_ptr<dataplane::Sink> sink, SinkEvents events)
      : sink_(std::move(sink)), events_(std::move(events)) {}

  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override {
    const dataplane::BlockHeader header = block->header();
    const auto flow = sink_->Push(block);
    if (!flow.ok()) return flow;
    if (*flow != dataplane::Flow::kMoved) {
      events_.on_held_back();
    } else if (taken_.insert(header.sequence).second) {
      events_.on_taken(header);
    } else {
      events_.on_again();
    }
    return flow;
  }
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override {
    return sink_->Finish(cause);
  }
  void SetWaker(dataplane::Waker waker) override { sink_->SetWaker(std::move(waker)); }
  dataplane::Watermarks watermarks() const override { return sink_->watermarks(); }
  absl::Status status() const override { return sink_->status(); }

  const std::set<uint64_t>& taken() const { return taken_; }

 private:
  const std::unique_ptr<dataplane::Sink> sink_;
  const SinkEvents events_;
  std::set<uint64_t> taken_;
};

}  // namespace tapedeck::sim
