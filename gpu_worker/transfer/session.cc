#include "gpu_worker/transfer/session.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::transfer {

using services::session::Accept;
using services::session::TransferEnd;

TransferSession::TransferSession(dataplane::Executor& executor, TransferRing made)
    : executor_(executor) {
  end_.ring = std::move(made.ring);
  end_.registration = std::move(made.registration);
}

void TransferSession::Open(services::session::ResumingSettings settings,
                           std::optional<services::Channel> channel) {
  channel_ = std::move(channel);
  services::session::Open& open = settings.session.open;
  open.slots = static_cast<uint32_t>(end_.ring->slots());
  open.slot_bytes = end_.ring->slot_bytes();
  settings.session.make_end = [this](const Accept& accept) -> absl::StatusOr<TransferEnd> {
    TD_RETURN_IF_ERROR(CheckAccepted(accept));
    return std::move(end_);
  };
  transfer_ = std::make_unique<services::session::ResumingSession>(executor_, std::move(settings));
}

void TransferSession::OpenDealt(services::parts::DealtSettings settings,
                                const services::Channel& channel) {
  channel_ = channel;
  for (services::parts::DealtNode& node : settings.nodes) {
    node.session.session.open.slots = static_cast<uint32_t>(end_.ring->slots());
    node.session.session.open.slot_bytes = end_.ring->slot_bytes();
  }
  settings.end = std::move(end_);
  settings.check = [this](const Accept& accept) {
    TD_RETURN_IF_ERROR(CheckAccepted(accept));
    if (accept.commit == channel_->commit) return absl::OkStatus();
    return services::ChannelInUse(channel_->name, "has another commit level on this node");
  };
  transfer_ = std::make_unique<services::parts::DealtRecording>(executor_, std::move(settings));
}

void TransferSession::OpenJoined(services::parts::JoinedSettings settings) {
  for (services::parts::JoinedNode& node : settings.nodes) {
    node.session.session.open.slots = static_cast<uint32_t>(node.end.ring->slots());
    node.session.session.open.slot_bytes = node.end.ring->slot_bytes();
  }
  transfer_ = std::make_unique<services::parts::JoinedPlayback>(executor_, std::move(settings));
}

void TransferSession::Start(OnChange on_change) { transfer_->Start(std::move(on_change)); }

void TransferSession::Stop() {
  if (transfer_ != nullptr) transfer_->Stop();
}

void TransferSession::EndsEarly(const std::string& why) {
  if (transfer_ != nullptr) transfer_->EndsEarly(why);
}

void TransferSession::LetGo() {
  transfer_.reset();
  const TransferEnd unused = std::move(end_);  // in its own order
}

// Somebody may have changed the channel since it was looked at.
absl::Status TransferSession::CheckAccepted(const Accept& accept) const {
  if (!channel_.has_value() ||
      (accept.block_bytes == channel_->block_bytes && accept.datatype == channel_->datatype &&
       accept.sample_rate == channel_->sample_rate)) {
    return absl::OkStatus();
  }
  return services::ChannelInUse(channel_->name, "was changed as the job began; start it again");
}

}  // namespace tapedeck::gpu_worker::transfer
