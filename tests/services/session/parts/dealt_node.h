// A storage node as a dealer sees it: takes blocks at a rate of its own, acknowledges them in
// groups, and dies with what it has not acknowledged, of which some is there all the same.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/executor/lifetime.h"
#include "services/session/parts/dealt_source.h"
#include "services/session/transfer/pump.h"

namespace tapedeck::services::parts {

struct NodeModel {
  int64_t block_ns = 0;
  size_t depth = 128;  // blocks that it holds
  size_t group = 8;    // of an acknowledgement
};

class DealtNode final : public dataplane::Sink, public session::PumpEvents {
 public:
  DealtNode(dataplane::Executor& executor, std::shared_ptr<Dealer> dealer, size_t part,
            NodeModel model)
      : executor_(executor), dealer_(std::move(dealer)), part_(part), model_(model) {}

  void Begin() {
    source_ = std::make_unique<DealtSource>(dealer_, part_);
    pump_ = std::make_unique<session::Pump>(executor_, *source_, *this,
                                            dataplane::CommitLevel::kDurable, this);
    lifetime_.emplace();
    done = false;
    alive_ = true;
    pump_->Start();
  }

  // What it has written is there; what it has not acknowledged goes to others.
  void Die(bool some_are_there) {
    some_are_there_ = some_are_there;
    alive_ = false;
    lifetime_.reset();
    busy_ = false;
    pump_->Abort(absl::UnavailableError("it has died"));
  }
  // It works on nothing until it goes on.
  void Hang() { hangs_ = true; }
  void GoOn() {
    hangs_ = false;
    if (std::exchange(late_, false)) return Complete(late_group_);
    Work();
  }
  bool alive() const { return alive_; }
  // Its session has told what was left.
  bool buried() const { return !alive_ && pump_ == nullptr; }

  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override {
    if (held_.size() >= model_.depth) return dataplane::Flow::kNotNow;
    EXPECT_EQ(block->header().sequence, durable_ + held_.size()) << "its own sequence has a hole";
    held_.push_back(std::move(*block));
    Work();
    return dataplane::Flow::kMoved;
  }
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status&) override {
    return held_.empty() || !alive_ ? dataplane::Flow::kEnd : dataplane::Flow::kNotNow;
  }
  void SetWaker(dataplane::Waker waker) override { waker_ = std::move(waker); }
  dataplane::Watermarks watermarks() const override {
    return {.received = durable_, .written = durable_, .durable = durable_};
  }
  void OnSourceEnd(uint64_t) override {}
  void OnPumpDone(const absl::Status& cause) override {
    if (alive_) {
      done = true;
      error = cause;
      return;
    }
    std::vector<dataplane::Block> left;
    for (size_t i = 0; i < held_.size(); ++i) {
      if (some_are_there_ && i % 2 == 0) recorded.push_back(held_[i].header().sample_index);
      left.push_back(std::move(held_[i]));
    }
    durable_ += held_.size();
    held_.clear();
    if (dataplane::Block unmoved = pump_->TakeUnmoved(); !unmoved.empty()) {
      ++durable_;
      left.push_back(std::move(unmoved));
    }
    dealer_->GiveBack(part_, std::move(left));
    executor_.Post([this] { pump_.reset(); });
  }

  std::vector<uint64_t> recorded;  // sample indexes, in its own order
  bool done = false;
  absl::Status error;

 private:
  // A group takes as long as its blocks.
  void Work() {
    if (busy_ || hangs_ || held_.empty()) return;
    busy_ = true;
    const size_t group = std::min(model_.group, held_.size());
    executor_.PostAfter(static_cast<int64_t>(group) * model_.block_ns,
                        lifetime_->Guard([this, group] {
                          if (!hangs_) return Complete(group);
                          late_ = true;
                          late_group_ = group;
                        }));
  }

  void Complete(size_t group) {
    busy_ = false;
    for (size_t i = 0; i < group; ++i) {
      recorded.push_back(held_.front().header().sample_index);
      held_.pop_front();
    }
    durable_ += group;
    waker_();
    Work();
  }

  dataplane::Executor& executor_;
  const std::shared_ptr<Dealer> dealer_;
  const size_t part_;
  const NodeModel model_;
  std::unique_ptr<DealtSource> source_;
  std::unique_ptr<session::Pump> pump_;
  dataplane::Waker waker_;
  std::deque<dataplane::Block> held_;
  uint64_t durable_ = 0;
  bool busy_ = false;
  bool alive_ = false;
  bool hangs_ = false;
  bool late_ = false;  // it was to be done with a group as it hung
  size_t late_group_ = 0;
  bool some_are_there_ = false;
  std::optional<dataplane::Lifetime> lifetime_;
};

}  // namespace tapedeck::services::parts
