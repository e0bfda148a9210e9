// A GPU worker's inlets, from afar and in plain values. Errors are those of the worker, or name it
// (NODE_UNREACHABLE).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/inlets.h"
#include "services/rpc/client/calls/call_limits.h"
#include "services/rpc/client/calls/channel.h"

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for `time`.
class InletClient {
 public:
  InletClient(const Channel& channel, const CallTime& time);
  ~InletClient();

  // A spec without request_id gets one.
  absl::StatusOr<Job> StartReceive(const ReceiveSpec& spec);
  absl::StatusOr<Inlet> GetInlet(const std::string& name);

  // Ends the calls under way and those to come: CANCELLED.
  void Cancel() { gate_.Close(); }

 private:
  struct Stub;

  const client::Channel node_;
  const CallTime time_;
  CallGate gate_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace tapedeck::services::client
