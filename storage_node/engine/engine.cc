#include "storage_node/engine/engine.h"

#include <utility>

#include "dataplane/log.h"
#include "storage_node/engine/thread_engine.h"
#include "storage_node/engine/uring_engine.h"

namespace tapedeck::storage_node::engine {

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const std::string& name) {
  auto uring = UringEngine::Create(name);
  if (uring.ok()) return *std::move(uring);
  if (absl::IsResourceExhausted(uring.status())) return std::move(uring).status();
  dataplane::Log(dataplane::LogLevel::kWarning, "engine", "IO_URING_BLOCKED",
                 {{"disk", name}, {"error", std::string(uring.status().message())}});
  return ThreadEngine::Create(name);
}

}  // namespace tapedeck::storage_node::engine
