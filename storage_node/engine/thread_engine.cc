#include "storage_node/engine/thread_engine.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

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
    TD_ASSIGN_OR_RETURN(auto thread, services::TaskThread::Create(name + "-" + std::to_string(i),
                                                                  engine->transfers_));
    engine->threads_.push_back(std::move(thread));
  }
  return engine;
}

void ThreadEngine::Start(Transfer transfer) {
  transfers_->Post([transfer = std::move(transfer)]() mutable { Carry(std::move(transfer)); });
}

}  // namespace tapedeck::storage_node::engine
