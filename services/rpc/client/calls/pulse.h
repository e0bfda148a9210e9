// Whether a node that keeps a caller waiting is alive: each second it is asked something that
// gRPC's own threads answer there, however busy the node is.
#pragma once

#include <functional>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace grpc {
class Channel;
}

namespace tapedeck::services::client {

// Asks for the first time after a second: a short wait costs no call. Any thread.
class Pulse {
 public:
  static constexpr absl::Duration kEach = absl::Seconds(1);
  // The method that is asked for. No node of any release has it, and each says so.
  static constexpr absl::string_view kMethod = "/tapedeck.v1.Pulse/Feel";

  // Each second `on_look` gets whether the node has answered since the look before, and returns
  // whether to go on; on one of gRPC's threads, maybe before this returns. It must not destroy the
  // pulse. A look comes late where this process is slow, so who counts looks does not count its own
  // delays as the node's.
  Pulse(std::shared_ptr<grpc::Channel> channel, std::function<bool(bool alive)> on_look);
  // Waits for a look that is under way.
  ~Pulse();

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with what is on its way in gRPC
};

}  // namespace tapedeck::services::client
