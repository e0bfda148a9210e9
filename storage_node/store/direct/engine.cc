#include "storage_node/store/direct/engine.h"

#include <utility>

#include "dataplane/log.h"
#include "storage_node/store/direct/thread_engine.h"
#include "storage_node/store/direct/uring_engine.h"

namespace tapedeck::storage_node::store::direct {

std::unique_ptr<Engine> MakeEngine(const std::string& name) {
  auto uring = UringEngine::Create(name);
  if (uring.ok()) return *std::move(uring);
  dataplane::Log(dataplane::LogLevel::kWarning, "store/direct", "IO_URING_BLOCKED",
                 {{"disk", name}, {"error", std::string(uring.status().message())}});
  return std::make_unique<ThreadEngine>(name);
}

}  // namespace tapedeck::storage_node::store::direct
