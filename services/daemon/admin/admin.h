// The admin port of a daemon: what Prometheus, Kubernetes and a person with curl ask over HTTP.
//   /healthz  200 as long as the process lives
//   /readyz   200 while the node takes work; 503 until it does, from its drain on, and as long as
//   it
//             would refuse all of it, with the reason; what else is wrong stands after the "ok"
//   /metrics  the page of metrics, in Prometheus' text format 0.0.4
// Nothing identifies the callers, so there is none unless it is asked for.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/daemon/admin/http_server.h"

namespace tapedeck::services::admin {

// Of the daemons' option for it.
inline constexpr char kAdminHelp[] =
    "HOST:PORT of /metrics, /healthz and /readyz over HTTP, e.g. 127.0.0.1:9400, without "
    "authentication; port 0 chooses one; default none";

// Owned by main; destroyed before what its metrics are read from. Any thread.
class Admin {
 public:
  // Answers at once, before the node is ready. Listens nowhere if `listen` is empty. Errors are
  // those of StartHttpServer.
  static absl::StatusOr<std::unique_ptr<Admin>> Create(const std::string& listen);

  // What the port asks of a node, on its own thread; none of it may wait.
  struct Node {
    std::function<std::string()> metrics;  // makes the page
    // OK while the node can do what it is asked; null: it always can.
    std::function<absl::Status()> health;
    // What is wrong while it can; null: nothing ever is.
    std::function<absl::Status()> remark;
  };

  // The node takes work.
  void Serve(Node node) ABSL_LOCKS_EXCLUDED(mutex_);

  // The node takes no more work; metrics go on.
  void Drain() { state_ = State::kDraining; }

  int port() const { return http_ == nullptr ? 0 : http_->port(); }

 private:
  enum class State { kStarting, kServing, kDraining };

  Admin() = default;
  HttpAnswer Get(absl::string_view path);
  HttpAnswer Ready() ABSL_LOCKS_EXCLUDED(mutex_);
  HttpAnswer Metrics() ABSL_LOCKS_EXCLUDED(mutex_);
  Node node() ABSL_LOCKS_EXCLUDED(mutex_);

  std::atomic<State> state_ = State::kStarting;
  absl::Mutex mutex_;
  Node node_ ABSL_GUARDED_BY(mutex_);
  // On the port's thread.
  std::shared_ptr<const std::string> page_;
  int64_t page_ns_ = 0;
  // Goes first: it calls the rest.
  std::unique_ptr<HttpServer> http_;
};

}  // namespace tapedeck::services::admin
