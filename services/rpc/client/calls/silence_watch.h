// Gives up a call whose node has shown no sign of life for too long.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "services/rpc/client/calls/call_time.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/calls/pulse.h"

namespace grpc {
class ClientContext;
}

namespace tapedeck::services::client {

// Around one call, on its caller's thread. `context` outlives it.
class SilenceWatch {
 public:
  SilenceWatch(const Channel& channel, const CallTime& time, grpc::ClientContext& context);

  // DEADLINE_EXCEEDED: it was given up. Says how far the call had come.
  absl::Status status() const;

 private:
  // Whether to go on.
  bool OnLook(bool alive);

  const Channel& channel_;
  const int64_t most_looks_;
  grpc::ClientContext& context_;
  int64_t silent_looks_ = 0;  // of the pulse's thread
  std::atomic<bool> silent_ = false;
  std::unique_ptr<Pulse> pulse_;  // goes first; null: nobody limits the silence
};

}  // namespace tapedeck::services::client
