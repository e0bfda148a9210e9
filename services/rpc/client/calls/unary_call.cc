#include "services/rpc/client/calls/unary_call.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

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
  return absl::DeadlineExceededError(
      absl::StrCat(channel_.address, " has shown no sign of life for ",
                   absl::FormatDuration(most_looks_ * Pulse::kEach),
                   connected ? ": it is connected but answers neither the call nor keepalives"
                             : ": it may accept connections but does not answer"));
}

std::string NewRequestId() {
  std::random_device device;
  const auto random64 = [&device] { return uint64_t{device()} << 32 | device(); };
  // RFC 9562 section 5.4: version 4 and variant 10 at fixed places.
  const uint64_t high = (random64() & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (random64() & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32, (high >> 16) & 0xffff,
                         high & 0xffff, low >> 48, low & 0xffffffffffff);
}

}  // namespace tapedeck::services::client
