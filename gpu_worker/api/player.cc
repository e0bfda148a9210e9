#include "gpu_worker/api/include/tapedeck/player.h"

#include <utility>

#include "dataplane/deadline.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/api/answer.h"
#include "gpu_worker/api/deck_parts.h"
#include "services/model/words/resource_name.h"

namespace tapedeck {

namespace api = gpu_worker::api;
using api::ToResult;
using api::ToStatus;

namespace {

absl::StatusOr<std::shared_ptr<api::SlotSession>> OpenPlayback(api::SlotEnvironment environment,
                                                               std::shared_ptr<const void> deck,
                                                               services::StorageDialer& dialer,
                                                               const PlayerOptions& options) {
  environment.deck = std::move(deck);
  TD_ASSIGN_OR_RETURN(
      const std::string recording,
      services::model::ExpandName(options.recording, {"luns", "channels", "recordings"}));
  return api::SlotSession::Play(
      environment, dialer.Dial(options.storage, {}, ""),
      {.node = options.storage, .recording = recording, .slots = options.slots},
      dataplane::Deadline::In(api::kOpenTime));
}

}  // namespace

struct Player::Parts {
  std::shared_ptr<api::SlotSession> session;

  api::PlaySlots& slots() const { return *session->play(); }
  ~Parts() {
    if (session != nullptr) session->Close(dataplane::Deadline::In(api::kCloseTime));
    session.reset();
  }
};

Result<Player> Player::Open(const Deck& deck, const PlayerOptions& options) {
  auto session = OpenPlayback(deck.parts_->environment, deck.parts_, *deck.parts_->dialer, options);
  if (!session.ok()) return ToStatus(session.status());
  auto parts = std::make_unique<Parts>();
  parts->session = *std::move(session);
  return Player(std::move(parts));
}

Player::Player(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Player::~Player() = default;
Player::Player(Player&&) noexcept = default;
Player& Player::operator=(Player&&) noexcept = default;

std::size_t Player::block_bytes() const { return parts_->slots().block_bytes(); }
std::size_t Player::slots() const { return parts_->slots().slots(); }
std::uint64_t Player::blocks() const { return parts_->session->snapshot().accept.blocks; }
std::string Player::datatype() const { return parts_->session->recording().datatype; }
double Player::sample_rate() const { return parts_->session->recording().sample_rate; }
std::vector<std::string> Player::notes() const { return parts_->session->notes(); }

Result<Slot> Player::Next(std::chrono::nanoseconds timeout) {
  return ToResult(parts_->slots().NextNow(api::DeadlineIn(timeout)));
}

Status Player::Release(const Slot& slot) { return ToStatus(parts_->slots().ReleaseNow(slot)); }

Result<Slot> Player::Next(Stream stream) { return ToResult(parts_->slots().Next(stream)); }

Status Player::Release(Stream stream, const Slot& slot) {
  return ToStatus(parts_->slots().Release(stream, slot));
}

const std::uint64_t* Player::failed() const { return parts_->slots().control().failed(); }

Status Player::status() const { return ToStatus(parts_->slots().status()); }

}  // namespace tapedeck
