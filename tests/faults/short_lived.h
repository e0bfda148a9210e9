// Processes that are made to end in the middle of things, and what they tell before.
#pragma once

#include <sys/mman.h>

#include <functional>
#include <new>
#include <string>
#include <utility>

namespace tapedeck::faults {

// A T, without pointers to anything, that this process and those it forks share.
template <typename T>
class SharedLedger {
 public:
  SharedLedger()
      : ledger_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                          -1, 0)) T) {}
  SharedLedger(SharedLedger&& other) noexcept : ledger_(std::exchange(other.ledger_, nullptr)) {}
  ~SharedLedger() {
    if (ledger_ != nullptr) munmap(ledger_, sizeof(T));
  }
  T& operator*() const { return *ledger_; }
  T* operator->() const { return ledger_; }

 private:
  T* ledger_;
};

// Runs `task` in a process of its own, which has 30 s and whose stderr goes to the file `said`;
// returns how it ended, such as "exit 0" or "signal 11".
// Where the task returns, the process exits with 0 and runs no destructor. No other thread may run
// here.
std::string RunShortLived(const std::string& said, const std::function<void()>& task);

}  // namespace tapedeck::faults
