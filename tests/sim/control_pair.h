// Two ends of a control stream inside a World, with delays; Cut breaks it as the death of a process
// does.
#pragma once

#include <memory>
#include <vector>

#include "services/session/protocol/control.h"
#include "tests/sim/world.h"

namespace tapedeck::sim {

class ControlEnd final : public services::session::ControlStream {
 public:
  struct State {
    World* world;
    services::session::ControlEvents* events = nullptr;
    dataplane::Executor* executor = nullptr;
    std::vector<services::session::Message> early;
    std::weak_ptr<State> peer;
    bool closed = false;  // no event follows
    int64_t last_ns = 0;  // of the last delivery here: order is kept
    void Deliver(services::session::Message message);
    void DeliverClosed(const absl::Status& cause);
  };

  explicit ControlEnd(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~ControlEnd() override;
  void Start(services::session::ControlEvents* events, dataplane::Executor* executor) override;
  void Send(const services::session::Message& message) override;
  void Close(const absl::Status& status) override;

 private:
  const std::shared_ptr<State> state_;
};

// Its events hear of it, on their executor; nobody does where there are none yet.
void Break(const std::shared_ptr<ControlEnd::State>& end, const absl::Status& cause);

struct ControlPair {
  explicit ControlPair(World& world);
  // Both ends see UNAVAILABLE.
  void Cut();

  std::unique_ptr<ControlEnd> worker;
  std::unique_ptr<ControlEnd> node;
  std::shared_ptr<ControlEnd::State> worker_state;
  std::shared_ptr<ControlEnd::State> node_state;
};

}  // namespace tapedeck::sim
