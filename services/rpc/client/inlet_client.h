// A GPU worker's inlets, from afar and in plain values. Errors are those of the worker, or name it
// (NODE_UNREACHABLE).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/inlets.h"
#include "services/rpc/client/calls/service_client.h"

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for `time`.
class InletClient final : public ServiceClient {
 public:
  InletClient(const Channel& channel, const CallTime& time)
      : ServiceClient(channel, time, "tapedeck.v1.InletService") {}

  // A spec without request_id gets one.
  absl::StatusOr<Job> StartReceive(const ReceiveSpec& spec);
  absl::StatusOr<Inlet> GetInlet(const std::string& name);
};

}  // namespace tapedeck::services::client
