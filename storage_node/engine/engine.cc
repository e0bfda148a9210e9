#include "storage_node/engine/engine.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/threads/task_thread.h"
#include "storage_node/disk/errors.h"
#include "storage_node/engine/under_way.h"
#include "storage_node/engine/uring_engine.h"

namespace tapedeck::storage_node::engine {
namespace {

// Transfers by pread(2) and pwrite(2) on kDepth threads: each waits for one transfer at a time.
class ThreadEngine final : public Engine {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED).
  static absl::StatusOr<std::unique_ptr<Engine>> Create(const std::string& name);

  void Start(Transfer transfer) override;
  void AddFile(int /*fd*/) override {}
  void RemoveFile(int /*fd*/) override {}
  std::unique_ptr<dataplane::Memory> Adopt(std::unique_ptr<dataplane::Memory> memory) override {
    return memory;
  }
  std::string description() const override { return "threads, O_DIRECT"; }

 private:
  ThreadEngine() = default;

  const std::shared_ptr<services::TaskQueue> transfers_ = std::make_shared<services::TaskQueue>();
  std::vector<std::unique_ptr<services::TaskThread>> threads_;
};

int64_t Ask(const UnderWay& work) {
  const std::span<std::byte> rest = work.rest();
  const auto offset = static_cast<off_t>(work.offset());
  const ssize_t n = work.write() ? pwrite(work.fd(), rest.data(), rest.size(), offset)
                                 : pread(work.fd(), rest.data(), rest.size(), offset);
  return n < 0 ? -errno : n;
}

void Carry(Transfer transfer) {
  UnderWay work(std::move(transfer));
  while (!work.Take(Ask(work))) {
  }
}

absl::StatusOr<std::unique_ptr<Engine>> ThreadEngine::Create(const std::string& name) {
  std::unique_ptr<ThreadEngine> engine(new ThreadEngine);
  for (unsigned i = 0; i < kDepth; ++i) {
    TD_ASSIGN_OR_RETURN(auto thread, services::TaskThread::Create(name + "-" + std::to_string(i),
                                                                  engine->transfers_));
    engine->threads_.push_back(std::move(thread));
  }
  return engine;
}

void ThreadEngine::Start(Transfer transfer) {
  transfers_->Post([transfer = std::move(transfer)]() mutable { Carry(std::move(transfer)); });
}

}  // namespace

absl::StatusOr<std::span<std::byte>> AlignedPayload(dataplane::Block& block,
                                                    const std::string& where) {
  const size_t bytes = AlignUp(block.payload().size());
  const std::span<std::byte> memory = block.memory();
  if (bytes <= memory.size() && reinterpret_cast<uintptr_t>(memory.data()) % kAlignment == 0) {
    return memory.first(bytes);
  }
  return disk::StoreIo(where, "O_DIRECT",
                       absl::StrCat("O_DIRECT on ", where, ": a slot of ", memory.size(),
                                    " bytes is not aligned to ", kAlignment));
}

void ZeroPadding(dataplane::Block& block) {
  const std::span<std::byte> memory = block.memory();
  const size_t payload = block.payload().size();
  const size_t end = std::min<size_t>(memory.size(), AlignUp(payload));
  std::ranges::fill(memory.subspan(payload, end - payload), std::byte{0});
}

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const std::string& name) {
  auto uring = UringEngine::Create(name);
  if (uring.ok()) return *std::move(uring);
  if (absl::IsResourceExhausted(uring.status())) return std::move(uring).status();
  dataplane::Log(dataplane::LogLevel::kWarning, "engine", "IO_URING_BLOCKED",
                 {{"disk", name}, {"error", std::string(uring.status().message())}});
  return ThreadEngine::Create(name);
}

}  // namespace tapedeck::storage_node::engine
