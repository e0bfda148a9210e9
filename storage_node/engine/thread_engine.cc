#include "storage_node/engine/thread_engine.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

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

ThreadEngine::ThreadEngine(const std::string& name) {
  for (unsigned i = 0; i < kDepth; ++i) {
    threads_.emplace_back([this] { Loop(); });
    pthread_setname_np(threads_.back().native_handle(), (name + "-" + std::to_string(i)).c_str());
  }
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
