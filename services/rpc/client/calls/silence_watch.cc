#include "services/rpc/client/calls/silence_watch.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::client {

SilenceWatch::SilenceWatch(const Channel& channel, const CallTime& time,
                           grpc::ClientContext& context)
    : channel_(channel),
      most_looks_(std::max<int64_t>(time.silence / Pulse::kEach, 1)),
      context_(context) {
  if (time.silence == absl::InfiniteDuration()) return;
  pulse_ = std::make_unique<Pulse>(channel.channel, [this](bool alive) { return OnLook(alive); });
}

bool SilenceWatch::OnLook(bool alive) {
  silent_looks_ = alive ? 0 : silent_looks_ + 1;
  if (silent_looks_ < most_looks_) return true;
  silent_ = true;
  context_.TryCancel();
  return false;
}

absl::Status SilenceWatch::status() const {
  if (!silent_) return absl::OkStatus();
  const bool connected = channel_.channel->GetState(false) == GRPC_CHANNEL_READY;
  return absl::DeadlineExceededError(absl::StrCat(
      channel_.address, " has shown no sign of life for ",
      absl::FormatDuration(most_looks_ * Pulse::kEach),
      connected ? ": it is connected and answers nothing, neither the call nor its connection"
                : ": it takes connections at most, and says nothing"));
}

}  // namespace tapedeck::services::client
