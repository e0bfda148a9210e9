#include "storage_node/engine/thread_engine.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tapedeck::storage_node::engine {
namespace {

void Carry(Transfer& transfer) {
  size_t moved = 0;
  int error = 0;
  while (moved < transfer.bytes.size() && error == 0 && !AtEnd(transfer, moved)) {
    const std::span<std::byte> rest = transfer.bytes.subspan(moved);
    const auto at = static_cast<off_t>(transfer.offset + moved);
    const ssize_t n = transfer.write ? pwrite(transfer.fd, rest.data(), rest.size(), at)
                                     : pread(transfer.fd, rest.data(), rest.size(), at);
    if (n > 0) {
      moved += static_cast<size_t>(n);
    } else if (n == 0) {
      if (!transfer.write) break;
      error = ENOSPC;
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  transfer.done(error, moved);
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
    Carry(transfer);
  }
}

}  // namespace tapedeck::storage_node::engine
