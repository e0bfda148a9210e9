#include "storage_node/engine/thread_engine.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"
#include "storage_node/engine/under_way.h"

namespace tapedeck::storage_node::engine {
namespace {

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

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> ThreadEngine::Create(const std::string& name) {
  std::unique_ptr<ThreadEngine> engine(new ThreadEngine);
  for (unsigned i = 0; i < kDepth; ++i) {
    TD_ASSIGN_OR_RETURN(std::thread thread,
                        dataplane::StartThread(name + "-" + std::to_string(i),
                                               [raw = engine.get()] { raw->Loop(); }));
    engine->threads_.push_back(std::move(thread));
  }
  return engine;
}

ThreadEngine::~ThreadEngine() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadEngine::Start(Transfer transfer) {
  absl::MutexLock lock(&mutex_);
  transfers_.push_back(std::move(transfer));
}

void ThreadEngine::Loop() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stop_ || !transfers_.empty();
  };
  while (true) {
    Transfer transfer;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (transfers_.empty()) return;
      transfer = std::move(transfers_.front());
      transfers_.pop_front();
    }
    Carry(std::move(transfer));
  }
}

}  // namespace tapedeck::storage_node::engine
