// One thread, one virtual clock, many executors: runs the product's own code in an order chosen by
// a seed. The same seed gives the same order and so the same event log.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "dataplane/executor/executor.h"

namespace tapedeck::sim {

class World;

// Virtual time: jumps to the next timer when nothing can run.
class VirtualClock final : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return now_ns; }
  int64_t WallNs() const override { return 1'700'000'000'000'000'000 + now_ns; }
  int64_t now_ns = 0;
};

class VirtualExecutor final : public dataplane::Executor {
 public:
  VirtualExecutor(World& world, std::string name) : world_(world), name_(std::move(name)) {}
  void Post(dataplane::Task task) override { ready_.push_back(std::move(task)); }
  void PostAt(int64_t deadline_ns, dataplane::Task task) override;
  const dataplane::Clock& clock() const override;

  const std::string& name() const { return name_; }
  bool ready() const { return !frozen_ && !ready_.empty(); }
  // Nothing of it runs, as in a process that is stopped, until it is thawed.
  void Freeze(bool frozen) { frozen_ = frozen; }
  void RunOne();
  void DropOne();

 private:
  World& world_;
  const std::string name_;
  std::deque<dataplane::Task> ready_;
  bool frozen_ = false;
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {}
  ~World();

  VirtualExecutor& NewExecutor(const std::string& name);
  const VirtualClock& clock() const { return clock_; }
  std::mt19937_64& random() { return random_; }

  // Runs tasks until `done` or until virtual time passes `limit_ns`; false in the latter case.
  bool RunUntil(const std::function<bool()>& done, int64_t limit_ns);

  // The event log: one line per event, with its virtual time.
  void Note(const std::string& event);
  const std::vector<std::string>& log() const { return log_; }
  // Covers the order in which every task ran, and the log.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  friend class VirtualExecutor;
  struct Timer {
    int64_t deadline_ns;
    uint64_t order;
    VirtualExecutor* executor;
    std::shared_ptr<dataplane::Task> task;
    bool operator<(const Timer& other) const {
      return std::pair(deadline_ns, order) > std::pair(other.deadline_ns, other.order);
    }
  };
  bool Step();
  void Mix(uint64_t value) { fingerprint_ = (fingerprint_ ^ value) * 1099511628211ull; }

  std::mt19937_64 random_;
  VirtualClock clock_;
  std::vector<std::unique_ptr<VirtualExecutor>> executors_;
  std::priority_queue<Timer> timers_;
  uint64_t timer_order_ = 0;
  uint64_t fingerprint_ = 14695981039346656037ull;
  std::vector<std::string> log_;
};

}  // namespace tapedeck::sim
