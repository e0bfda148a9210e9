#include "dataplane/transport/verbs/port/objects.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::verbs {
namespace {

template <typename Owner, typename T>
absl::StatusOr<Owner> Owned(T* object, absl::string_view call) {
  if (object == nullptr) return ErrnoStatus(call, errno);
  return Owner(object);
}

}  // namespace

void LogFailedDestroy(int error) {
  // Positive from libibverbs, -1 with errno from librdmacm.
  Log(LogLevel::kError, "transport/verbs", "an object could not be destroyed",
      {{"cause", std::strerror(error > 0 ? error : errno)}});
}

absl::Status ErrnoStatus(absl::string_view call, int error) {
  return absl::UnavailableError(absl::StrCat(call, ": ", std::strerror(error)));
}

absl::StatusOr<Context> OpenDevice(ibv_device* device) {
  return Owned<Context>(ibv_open_device(device),
                        absl::StrCat("ibv_open_device ", ibv_get_device_name(device)));
}

absl::StatusOr<ProtectionDomain> CreateProtectionDomain(ibv_context* context) {
  return Owned<ProtectionDomain>(ibv_alloc_pd(context), "ibv_alloc_pd");
}

absl::StatusOr<CompletionChannel> CreateCompletionChannel(ibv_context* context) {
  TD_ASSIGN_OR_RETURN(
      CompletionChannel channel,
      Owned<CompletionChannel>(ibv_create_comp_channel(context), "ibv_create_comp_channel"));
  TD_RETURN_IF_ERROR(SetNonBlocking(channel->fd));
  return channel;
}

absl::StatusOr<Cq> CreateCq(ibv_context* context, int depth, ibv_comp_channel* channel,
                            uint32_t which) {
  const auto vector = static_cast<int>(which % static_cast<uint32_t>(context->num_comp_vectors));
  return Owned<Cq>(ibv_create_cq(context, depth, nullptr, channel, vector), "ibv_create_cq");
}

absl::StatusOr<Qp> CreateQp(ibv_pd* pd, ibv_qp_init_attr& attributes) {
  return Owned<Qp>(ibv_create_qp(pd, &attributes), "ibv_create_qp");
}

absl::StatusOr<CmChannel> CreateCmChannel() {
  TD_ASSIGN_OR_RETURN(CmChannel channel,
                      Owned<CmChannel>(rdma_create_event_channel(), "rdma_create_event_channel"));
  TD_RETURN_IF_ERROR(SetNonBlocking(channel->fd));
  return channel;
}

absl::StatusOr<CmId> CreateCmId(rdma_event_channel* channel) {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP) != 0) {
    return ErrnoStatus("rdma_create_id", errno);
  }
  return CmId(id);
}

absl::Status SetNonBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return ErrnoStatus("fcntl", errno);
  return absl::OkStatus();
}

}  // namespace tapedeck::dataplane::verbs
