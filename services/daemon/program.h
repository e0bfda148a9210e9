// What the programs of both nodes do around their own work: tapedeck-storage and tapedeck-worker.
#pragma once

#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::services {

// A node that serves: all of its parts, put together by its settings. One thread. Ends when it is
// destroyed, if it has not; a test may have several in a process.
class Serving {
 public:
  virtual ~Serving() = default;

  // Of the gRPC services.
  virtual int port() const = 0;

  // Takes no more work, and waits for what is under way as long as the settings say. Ends the
  // process when that time is over and something still waits, for as long as this lives. Once.
  virtual void End() = 0;
};

// A node of `Parts`, which have a `server` and an End.
template <typename Parts>
class ServingOf final : public Serving {
 public:
  explicit ServingOf(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
  ~ServingOf() override {
    if (!ended_) End();
  }

  int port() const override { return parts_->server->port(); }
  void End() override {
    ended_ = true;
    parts_->End();
  }

 private:
  const std::unique_ptr<Parts> parts_;
  bool ended_ = false;
};

// Called first in main: limits, signals, memory, logs and TLS of the process.
void PrepareDaemon();

// Starts gRPC and what `start` makes, and ends it when a signal asks for that. Errors of both
// starts.
absl::Status Serve(absl::FunctionRef<absl::StatusOr<std::unique_ptr<Serving>>()> start);

}  // namespace tapedeck::services
