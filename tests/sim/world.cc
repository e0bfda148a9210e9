#include "tests/sim/world.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace tapedeck::sim {

void VirtualExecutor::PostAt(int64_t deadline_ns, dataplane::Task task) {
  world_.timers_.push({deadline_ns, world_.timer_order_++, this,
                       std::make_shared<dataplane::Task>(std::move(task))});
}

const dataplane::Clock& VirtualExecutor::clock() const { return world_.clock_; }

void VirtualExecutor::RunOne() {
  dataplane::Task task = std::move(ready_.front());
  ready_.pop_front();
  task();
}

void VirtualExecutor::DropOne() {
  const dataplane::Task dropped = std::move(ready_.front());
  ready_.pop_front();
}

World::~World() {
  // A task may hold what posts again when destroyed, to any executor: all stay until none does.
  for (const auto& executor : executors_) executor->Freeze(false);
  bool dropped = true;
  while (std::exchange(dropped, false)) {
    for (; !timers_.empty(); dropped = true) timers_.pop();
    for (const auto& executor : executors_) {
      for (; executor->ready(); dropped = true) executor->DropOne();
    }
  }
}

VirtualExecutor& World::NewExecutor(const std::string& name) {
  return *executors_.emplace_back(std::make_unique<VirtualExecutor>(*this, name));
}

bool World::Step() {
  std::vector<size_t> ready;
  for (size_t i = 0; i < executors_.size(); ++i) {
    if (executors_[i]->ready()) ready.push_back(i);
  }
  if (!ready.empty()) {
    const size_t chosen = ready[random_() % ready.size()];
    Mix(chosen);
    executors_[chosen]->RunOne();
    return true;
  }
  if (timers_.empty()) return false;
  clock_.now_ns = std::max(clock_.now_ns, timers_.top().deadline_ns);
  Mix(static_cast<uint64_t>(clock_.now_ns));
  while (!timers_.empty() && timers_.top().deadline_ns <= clock_.now_ns) {
    const Timer timer = timers_.top();
    timers_.pop();
    timer.executor->Post(std::move(*timer.task));
  }
  return true;
}

bool World::RunUntil(const std::function<bool()>& done, int64_t limit_ns) {
  while (!done()) {
    if (clock_.now_ns > limit_ns || !Step()) return false;
  }
  return true;
}

void World::Note(const std::string& event) {
  log_.push_back(absl::StrFormat("%12.6f ms  %s", clock_.now_ns / 1e6, event));
  for (const char c : log_.back()) Mix(static_cast<uint8_t>(c));
}

}  // namespace tapedeck::sim
