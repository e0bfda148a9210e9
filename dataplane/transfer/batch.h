// Messages of one thread for another, gathered over a turn of its executor. To post each by itself
// would cost a task, and often a wake-up, for every frame.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"

namespace tapedeck::dataplane {

// Payload that is worth a task of its own: what stands for more waits for nothing. Less would cost
// blocks of 64 KiB a task each; more would keep the other thread idle in the meantime.
inline constexpr size_t kBatchBytes = 256 << 10;

// On one executor.
template <typename T>
class Batch {
 public:
  using HandOver = std::function<void(std::vector<T>)>;

  // `hand_over` gets what was added, in order, at the end of the turn at the latest.
  Batch(Executor& executor, HandOver hand_over)
      : executor_(executor), hand_over_(std::move(hand_over)) {}

  // `payload_bytes`: that `item` stands for.
  void Add(T item, size_t payload_bytes) {
    if (items_.empty()) items_.reserve(kUsual);
    items_.push_back(std::move(item));
    bytes_ += payload_bytes;
    if (bytes_ >= kBatchBytes) return Flush();
    if (std::exchange(due_, true)) return;
    executor_.AtEndOfTurn(lifetime_.Guard([this] {
      due_ = false;
      Flush();
    }));
  }

  // Now, as something else shall not overtake it.
  void Flush() {
    bytes_ = 0;
    if (!items_.empty()) hand_over_(std::exchange(items_, {}));
  }

 private:
  static constexpr size_t kUsual = 8;

  Executor& executor_;
  const HandOver hand_over_;
  std::vector<T> items_;
  size_t bytes_ = 0;
  bool due_ = false;  // a flush at the end of the turn
  Lifetime lifetime_;
};

}  // namespace tapedeck::dataplane
