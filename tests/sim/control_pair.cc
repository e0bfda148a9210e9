#include "tests/sim/control_pair.h"

#include <algorithm>
#include <utility>

namespace tapedeck::sim {

using services::session::Message;

namespace {

constexpr int64_t kMaxDelayNs = 300'000;

// Runs f(state) where the state lives, later, in the order of the calls.
template <typename F>
void Later(const std::shared_ptr<ControlEnd::State>& to, F f) {
  if (to == nullptr || to->executor == nullptr) return;
  const int64_t now_ns = to->world->clock().NowNs();
  to->last_ns =
      std::max(to->last_ns, now_ns + static_cast<int64_t>(to->world->random()() % kMaxDelayNs));
  to->executor->PostAt(to->last_ns, [to, f = std::move(f)]() mutable {
    if (!to->closed) f(*to);
  });
}

}  // namespace

void ControlEnd::State::Deliver(Message message) { events->OnMessage(std::move(message)); }

void ControlEnd::State::DeliverClosed(const absl::Status& cause) {
  closed = true;
  events->OnClosed(cause);
}

ControlEnd::~ControlEnd() {
  if (!state_->closed) Close(absl::CancelledError("cancelled"));
  state_->closed = true;
}

void ControlEnd::Start(services::session::ControlEvents* events, dataplane::Executor* executor) {
  state_->events = events;
  state_->executor = executor;
  for (Message& message : std::exchange(state_->early, {})) {
    Later(state_, [message](State& state) { state.Deliver(message); });
  }
}

void ControlEnd::Send(const Message& message) {
  const std::shared_ptr<State> peer = state_->peer.lock();
  if (state_->closed || peer == nullptr) return;
  if (peer->executor == nullptr) {
    peer->early.push_back(message);
  } else {
    Later(peer, [message](State& state) { state.Deliver(message); });
  }
}

void ControlEnd::Close(const absl::Status& status) {
  if (state_->closed) return;
  Later(state_->peer.lock(), [status](State& state) { state.DeliverClosed(status); });
  Later(state_, [](State& state) { state.DeliverClosed(absl::OkStatus()); });
}

ControlPair::ControlPair(World& world)
    : worker_state(std::make_shared<ControlEnd::State>()),
      node_state(std::make_shared<ControlEnd::State>()) {
  worker_state->world = node_state->world = &world;
  worker_state->peer = node_state;
  node_state->peer = worker_state;
  worker = std::make_unique<ControlEnd>(worker_state);
  node = std::make_unique<ControlEnd>(node_state);
}

void Break(const std::shared_ptr<ControlEnd::State>& end, const absl::Status& cause) {
  if (end->executor == nullptr) return;
  end->executor->Post([end, cause] {
    if (!end->closed) end->DeliverClosed(cause);
  });
}

void ControlPair::Cut() {
  for (const auto& state : {worker_state, node_state}) {
    Later(state, [](ControlEnd::State& s) {
      s.DeliverClosed(absl::UnavailableError("the connection was reset"));
    });
  }
}

}  // namespace tapedeck::sim
