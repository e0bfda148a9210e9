#include "storage_node/follow/tail_memory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::follow {
namespace {

using dataplane::Memory;

// The largest block fits. Where pages are dear (a virtual machine whose host has to find them) one
// takes 70 ms.
constexpr uint64_t kSlabBytes = 32 << 20;

// Fewer, and a tail that grows at a disk's full rate has to leave blocks out.
constexpr size_t kReadySlabs = 4;

// Memory is kept so long after the last follower: the next one often comes soon.
constexpr absl::Duration kIdle = absl::Seconds(30);

}  // namespace

// A slab on loan.
class TailMemory::Slab final : public Memory {
 public:
  Slab(std::shared_ptr<TailMemory> owner, std::unique_ptr<Memory> memory)
      : owner_(std::move(owner)), memory_(std::move(memory)) {}
  ~Slab() override { owner_->Return(std::move(memory_)); }
  dataplane::MemoryWindow window() const override { return memory_->window(); }

 private:
  const std::shared_ptr<TailMemory> owner_;
  std::unique_ptr<Memory> memory_;
};

absl::StatusOr<std::shared_ptr<TailMemory>> TailMemory::Create(uint64_t limit_bytes) {
  std::shared_ptr<TailMemory> memory(new TailMemory(limit_bytes));
  TD_ASSIGN_OR_RETURN(memory->thread_,
                      dataplane::StartThread("tail-memory", [own = memory.get()] { own->Run(); }));
  return memory;
}

TailMemory::TailMemory(uint64_t limit_bytes)
    : limit_bytes_(limit_bytes), slab_bytes_(std::min(limit_bytes, kSlabBytes)) {}

TailMemory::~TailMemory() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<Memory> TailMemory::Take() {
  absl::MutexLock lock(&mutex_);
  asked_ = true;
  if (ready_.empty()) return nullptr;
  auto slab = std::make_unique<Slab>(shared_from_this(), std::move(ready_.back()));
  ready_.pop_back();
  ++lent_;
  return slab;
}

void TailMemory::Return(std::unique_ptr<Memory> memory) {
  absl::MutexLock lock(&mutex_);
  ready_.push_back(std::move(memory));
  --lent_;
}

void TailMemory::Run() {
  while (WaitUntilNeeded()) {
    absl::StatusOr<std::unique_ptr<Memory>> memory = dataplane::host::Create(slab_bytes_);
    absl::MutexLock lock(&mutex_);
    if (memory.ok()) {
      ready_.push_back(*std::move(memory));
    } else {
      Refuse(std::string(memory.status().message()));
    }
  }
}

bool TailMemory::WaitUntilNeeded() {
  while (true) {
    std::vector<std::unique_ptr<Memory>> unused;  // freed without the lock
    absl::MutexLock lock(&mutex_);
    const bool asked =
        dataplane::AwaitFor(mutex_, absl::Condition(this, &TailMemory::has_work), kIdle);
    if (stop_) return false;
    if (!asked && lent_ == 0) {
      refused_ = false;
      unused.swap(ready_);
    }
    if (!asked) continue;
    const bool fits = (lent_ + ready_.size() + 1) * slab_bytes_ <= limit_bytes_;
    if (fits && ready_.size() < kReadySlabs) return true;
    if (ready_.empty()) Refuse(absl::StrCat("--follow-memory ", limit_bytes_, " is all in use"));
    asked_ = false;
  }
}

void TailMemory::Refuse(const std::string& why) {
  asked_ = false;
  if (std::exchange(refused_, true)) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "tail_memory",
                 "no more memory for followers: those further behind read the disk",
                 {{"bytes", absl::StrCat(lent_ * slab_bytes_)}, {"error", why}});
}

}  // namespace tapedeck::storage_node::follow
