#include "gpu_worker/job/job_session.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::job {

using services::session::Accept;
using services::session::TransferEnd;

JobSession::JobSession(dataplane::Executor& executor, JobRing made) : executor_(executor) {
  end_.ring = std::move(made.ring);
  end_.registration = std::move(made.registration);
}

void JobSession::Open(services::session::ResumingSettings settings,
                      std::optional<services::Channel> channel) {
  channel_ = std::move(channel);
  services::session::Open& open = settings.session.open;
  open.slots = static_cast<uint32_t>(end_.ring->slots());
  open.slot_bytes = end_.ring->slot_bytes();
  settings.session.make_end = [this](const Accept& accept) -> absl::StatusOr<TransferEnd> {
    TD_RETURN_IF_ERROR(CheckAccepted(accept));
    return std::move(end_);
  };
  session_ = std::make_unique<services::session::ResumingSession>(executor_, std::move(settings));
}

void JobSession::Start() {
  if (session_ != nullptr) session_->Start();
}

void JobSession::Stop() {
  if (session_ != nullptr) session_->Stop();
}

void JobSession::LetGo() {
  session_.reset();
  const TransferEnd unused = std::move(end_);  // in its own order
}

// Somebody may have changed the channel since it was looked at.
absl::Status JobSession::CheckAccepted(const Accept& accept) const {
  if (!channel_.has_value() ||
      (accept.block_bytes == channel_->block_bytes && accept.datatype == channel_->datatype &&
       accept.sample_rate == channel_->sample_rate)) {
    return absl::OkStatus();
  }
  return services::ChannelInUse(channel_->name, "was changed as the job began; start it again");
}

}  // namespace tapedeck::gpu_worker::job
