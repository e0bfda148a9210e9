// Owning types for the objects of libibverbs and librdmacm, and the calls that create them. An
// object that exists works; a failure names the call. Any thread.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane::verbs {

void LogFailedDestroy(int error);

template <auto Destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    if constexpr (std::is_void_v<decltype(Destroy(object))>) {
      Destroy(object);
    } else if (const int error = Destroy(object); error != 0) {
      LogFailedDestroy(error);
    }
  }
};

using Context = std::unique_ptr<ibv_context, Destroyer<ibv_close_device>>;
using ProtectionDomain = std::unique_ptr<ibv_pd, Destroyer<ibv_dealloc_pd>>;
using MemoryRegion = std::unique_ptr<ibv_mr, Destroyer<ibv_dereg_mr>>;
using CompletionChannel = std::unique_ptr<ibv_comp_channel, Destroyer<ibv_destroy_comp_channel>>;
using Cq = std::unique_ptr<ibv_cq, Destroyer<ibv_destroy_cq>>;
using Qp = std::unique_ptr<ibv_qp, Destroyer<ibv_destroy_qp>>;
using DeviceList = std::unique_ptr<ibv_device*, Destroyer<ibv_free_device_list>>;
using CmChannel = std::unique_ptr<rdma_event_channel, Destroyer<rdma_destroy_event_channel>>;
using CmId = std::unique_ptr<rdma_cm_id, Destroyer<rdma_destroy_id>>;

// UNAVAILABLE "CALL: TEXT".
absl::Status ErrnoStatus(absl::string_view call, int error);

absl::StatusOr<Context> OpenDevice(ibv_device* device);
absl::StatusOr<ProtectionDomain> CreateProtectionDomain(ibv_context* context);
absl::StatusOr<CompletionChannel> CreateCompletionChannel(ibv_context* context);
// `which` chooses the interrupt, modulo what the device has, so that many spread over the
// processors.
absl::StatusOr<Cq> CreateCq(ibv_context* context, int depth, ibv_comp_channel* channel,
                            uint32_t which);
absl::StatusOr<Qp> CreateQp(ibv_pd* pd, ibv_qp_init_attr& attributes);
absl::StatusOr<CmChannel> CreateCmChannel();
absl::StatusOr<CmId> CreateCmId(rdma_event_channel* channel);

// A read of `fd` returns at once, also with nothing there.
absl::Status SetNonBlocking(int fd);

}  // namespace tapedeck::dataplane::verbs
