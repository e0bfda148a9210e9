#include "gpu_worker/api/include/tapedeck/host_stream.h"

#include <utility>

#include "gpu_worker/api/answer.h"
#include "gpu_worker/device/thread_stream.h"

namespace tapedeck {

namespace api = gpu_worker::api;

struct HostStream::Parts {
  std::unique_ptr<gpu_worker::device::ThreadStream> stream;
};

Result<HostStream> HostStream::Create() {
  auto stream = gpu_worker::device::ThreadStream::Create();
  if (!stream.ok()) return api::ToStatus(stream.status());
  auto parts = std::make_unique<Parts>();
  parts->stream = *std::move(stream);
  return HostStream(std::move(parts));
}

HostStream::HostStream(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HostStream::~HostStream() = default;
HostStream::HostStream(HostStream&&) noexcept = default;
HostStream& HostStream::operator=(HostStream&&) noexcept = default;

Stream HostStream::handle() const { return parts_->stream.get(); }

Status HostStream::Launch(std::function<void()> work) {
  const absl::Status room = parts_->stream->CheckRoom();
  if (room.ok()) parts_->stream->Enqueue([work = std::move(work)](const auto&) { work(); });
  return api::ToStatus(room);
}

Status HostStream::Synchronize(std::chrono::nanoseconds timeout) {
  if (parts_->stream->Synchronize(api::DeadlineIn(timeout))) return Status();
  return Status("DEADLINE_EXCEEDED", "the stream has not finished its work yet");
}

}  // namespace tapedeck
