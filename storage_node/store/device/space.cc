#include "storage_node/store/device/space.h"

#include <algorithm>

namespace tapedeck::storage_node::store::device {

Space::FreeRuns::iterator Space::Holding(uint32_t unit) {
  auto it = free_.upper_bound(unit);
  if (it == free_.begin()) return free_.end();
  --it;
  return unit < it->first + it->second ? it : free_.end();
}

bool Space::Take(const Runs& runs) {
  absl::MutexLock lock(&mutex_);
  Runs taken;
  for (const Run& run : runs) {
    const auto it = Holding(run.first);
    const bool whole = it != free_.end() && run.count > 0 &&
                       uint64_t{run.first} + run.count <= uint64_t{it->first} + it->second;
    if (!whole) {
      for (const Run& back : taken) FreeOne(back);
      return false;
    }
    const Run before{.first = it->first, .count = run.first - it->first};
    const Run behind{.first = run.first + run.count,
                     .count = it->first + it->second - run.first - run.count};
    free_.erase(it);
    if (before.count > 0) free_[before.first] = before.count;
    if (behind.count > 0) free_[behind.first] = behind.count;
    taken.push_back(run);
  }
  return true;
}

Run Space::TakeFrom(FreeRuns::iterator run, uint32_t units) {
  const auto [first, count] = *run;
  const uint32_t taken = std::min(units, count);
  free_.erase(run);
  if (taken < count) free_[first + taken] = count - taken;
  return {.first = first, .count = taken};
}

Runs Space::Allocate(uint32_t wanted, uint32_t needed, std::optional<uint32_t> next) {
  absl::MutexLock lock(&mutex_);
  uint64_t free = 0;
  for (const auto& [first, count] : free_) free += count;
  Runs runs;
  if (free < needed || free_.empty()) return runs;
  if (const auto it = next.has_value() ? free_.find(*next) : free_.end(); it != free_.end()) {
    Append(&runs, {TakeFrom(it, wanted)});
  }
  while (UnitsOf(runs) < wanted && !free_.empty()) {
    const auto largest =
        std::max_element(free_.begin(), free_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    Append(&runs, {TakeFrom(largest, wanted - UnitsOf(runs))});
  }
  return runs;
}

void Space::FreeOne(Run run) {
  auto next = free_.lower_bound(run.first);
  if (next != free_.end() && next->first == run.first + run.count) {
    run.count += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == run.first) {
      before->second += run.count;
      return;
    }
  }
  free_[run.first] = run.count;
}

void Space::Free(const Runs& runs) {
  absl::MutexLock lock(&mutex_);
  for (const Run& run : runs) FreeOne(run);
}

uint32_t Space::free_units() const {
  absl::MutexLock lock(&mutex_);
  uint32_t units = 0;
  for (const auto& [first, count] : free_) units += count;
  return units;
}

}  // namespace tapedeck::storage_node::store::device
