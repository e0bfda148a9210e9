#include "dataplane/transport/verbs/port/diagnosis.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/errors.h"
#include "dataplane/reason.h"
#include "dataplane/transport/verbs/port/limits.h"
#include "dataplane/transport/wire_share.h"

namespace tapedeck::dataplane::verbs {
namespace {

constexpr double kNoAnswerS = (kRetryCount + 1) * 4.096e-6 * (1 << kAckTimeout);
constexpr double kNoReceiveMs = (kRnrRetry + 1) * 0.64;

struct Meaning {
  absl::StatusCode code;
  const char* reason;
  std::string text;
};

Meaning MeaningOf(ibv_wc_status status) {
  using enum absl::StatusCode;
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return {kUnavailable, "PEER_NOT_ANSWERING",
              absl::StrFormat("no answer for %.2f s (timeout %d, retry %d): the peer's process, "
                              "host or port is down, or UDP port 4791 is blocked",
                              kNoAnswerS, kAckTimeout, kRetryCount)};
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return {kUnavailable, "RECEIVER_OVERRUN",
              absl::StrFormat("the peer had no receive posted for %.1f ms (RNR timer %d, retry "
                              "%d): it is overloaded or at fault, not the network",
                              kNoReceiveMs, kMinRnrTimer, kRnrRetry)};
    case IBV_WC_LOC_LEN_ERR:
      return {kResourceExhausted, "RECEIVER_OVERRUN",
              "received a payload that no posted receive can hold"};
    case IBV_WC_REM_ACCESS_ERR:
      return {kPermissionDenied, "MEMORY_REVOKED",
              "the peer refused the access to its memory: its session has ended, or key, address "
              "or direction are not what it gave"};
    case IBV_WC_REM_INV_REQ_ERR:
      return {kFailedPrecondition, "REQUEST_REFUSED",
              "the peer's port refused the request: the operation is not allowed there, longer "
              "than its receive, or the path MTUs differ; give both ports the same MTU"};
    case IBV_WC_LOC_PROT_ERR:
      return {kInternal, "MEMORY_UNREACHABLE",
              "this end's memory could not be reached: it was freed while in use, or an IOMMU or "
              "PCIe ACS keeps the port from it; switch ACS off"};
    case IBV_WC_LOC_QP_OP_ERR:
      return {kUnavailable, "PORT_DOWN",
              "this end's port or address is gone; check: rdma link, ip address"};
    case IBV_WC_REM_OP_ERR:
      return {kUnavailable, "PEER_NOT_ANSWERING",
              "the peer's port failed; check there: rdma link, dmesg"};
    case IBV_WC_FATAL_ERR:
      return {kUnavailable, "DEVICE_GONE",
              "the device failed; check dmesg, then restart this service"};
    default:
      return {kInternal, "RDMA_FAILED", "the request failed: a defect, or a device error"};
  }
}

// PERMISSION_DENIED or UNAVAILABLE.
absl::Status MemoryRevoked(absl::StatusCode code, absl::string_view text) {
  return WithReason(absl::Status(code, text), "MEMORY_REVOKED");
}

}  // namespace

std::string PortName::device_port() const { return absl::StrCat(device, " port ", port); }

std::string PortName::prefix(absl::string_view peer) const {
  return absl::StrCat("rail ", rail, " (", address, device.empty() ? "" : ", ",
                      device.empty() ? "" : device_port(), ")", peer.empty() ? "" : " to ", peer,
                      ": ");
}

absl::Status NoDevice(absl::string_view address, absl::string_view cause) {
  return NoRdmaDevice(
      address,
      absl::StrCat(
          "no RDMA device has the address ", address, ": ", cause,
          "; give the port this address, load its driver and rdma_ucm (in a container pass "
          "/dev/infiniband in), or use a tcp rail"));
}

absl::Status NoRoceV2Gid(const PortName& port, absl::string_view found) {
  return WithReason(absl::UnavailableError(
                        absl::StrCat("no RoCEv2 GID for ", port.address, " on ", port.device_port(),
                                     ", only ", found.empty() ? "none" : found,
                                     "; set the address on the network interface of that port")),
                    "NO_ROCE_V2_GID", {{"rail", port.rail}, {"device", port.device}});
}

absl::Status PortDown(const PortName& port, ibv_port_state state) {
  return WithReason(absl::UnavailableError(absl::StrCat(
                        "port down: ", port.device_port(), " is ", ibv_port_state_str(state),
                        "; check its cable, its switch and: rdma link")),
                    "PORT_DOWN", {{"rail", port.rail}, {"device", port.device}});
}

absl::Status DeviceGone(const PortName& port) {
  return WithReason(
      absl::UnavailableError(absl::StrCat("device gone: ", port.device,
                                          " was removed or has failed; once it is back, restart "
                                          "this service to use the rail again")),
      "DEVICE_GONE", {{"rail", port.rail}, {"device", port.device}});
}

absl::Status PeerUnreachable(const PortName& port, absl::string_view peer, absl::string_view call,
                             int error) {
  return RailUnreachable(
      port.rail, peer,
      absl::StrCat(call, ": ", std::strerror(error), ": no way from ", port.address, " to ", peer,
                   "; the peer is down or in another network; try: ping -I ", port.address, " ",
                   peer));
}

absl::Status RegistrationFailed(absl::string_view call, size_t bytes, bool device_memory,
                                int error) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (error == ENOMEM && limit.rlim_cur != RLIM_INFINITY) {
    return WithReason(
        absl::ResourceExhaustedError(absl::StrCat(
            call, ": ", bytes, " bytes must be locked and the limit of locked memory is ",
            limit.rlim_cur,
            " bytes; set LimitMEMLOCK=infinity for the service (in a container --ulimit "
            "memlock=-1), or use a smaller ring")),
        "MEMLOCK_TOO_LOW",
        {{"bytes", absl::StrCat(bytes)}, {"limit", absl::StrCat(limit.rlim_cur)}});
  }
  if (device_memory) {
    return WithReason(absl::UnimplementedError(absl::StrCat(
                          call, ": ", std::strerror(error), ": the device cannot reach ", bytes,
                          " bytes of GPU memory; load nvidia-peermem, or a driver with dma-buf; "
                          "otherwise the data goes through host memory")),
                      "GPU_MEMORY_NOT_REGISTRABLE", {{"bytes", absl::StrCat(bytes)}});
  }
  return absl::ResourceExhaustedError(absl::StrCat(call, ": ", std::strerror(error), ": ", bytes,
                                                   " bytes cannot be registered; use a smaller "
                                                   "ring, and check: rdma resource show"));
}

absl::Status CompletionFailed(ibv_wc_status status, uint32_t vendor_error) {
  const Meaning meaning = MeaningOf(status);
  return WithReason(
      absl::Status(meaning.code, absl::StrFormat("%s (%s %d, vendor 0x%x)", meaning.text,
                                                 ibv_wc_status_str(status), status, vendor_error)),
      meaning.reason);
}

absl::Status PeerBrokeIn() {
  return MemoryRevoked(
      absl::StatusCode::kUnavailable,
      "the port ended the connection: the peer asked for memory that it may not reach");
}

absl::Status QueueFailed(ibv_event_type event) {
  const bool peer = event == IBV_EVENT_QP_ACCESS_ERR || event == IBV_EVENT_QP_REQ_ERR;
  if (peer) {
    return MemoryRevoked(absl::StatusCode::kPermissionDenied,
                         absl::StrCat("the peer requested an access that it may not have: ",
                                      ibv_event_type_str(event)));
  }
  return WithReason(absl::InternalError(absl::StrCat("the device stopped a queue: ",
                                                     ibv_event_type_str(event), "; check: dmesg")),
                    "RDMA_FAILED");
}

absl::Status FullSizeLost(uint32_t mtu_bytes) {
  return WithReason(
      absl::UnavailableError(absl::StrCat(
          "small packets arrive and those of the path MTU ", mtu_bytes,
          " do not: a switch or port on the way has a smaller MTU; give all of them at least ",
          mtu_bytes + 104)),
      "PATH_MTU_MISMATCH", {{"mtu_bytes", absl::StrCat(mtu_bytes)}});
}

std::string PathMtuWarning(uint32_t mtu_bytes) {
  if (mtu_bytes == 0 || mtu_bytes >= kBestRoceMtu) return "";
  return absl::StrFormat(
      "path MTU %d carries %.1f %% less than 4096; set the MTU of both ports and of the switch to "
      "4200 or more (usual is 9000)",
      mtu_bytes, 100 * (1 - RoceShare(mtu_bytes) / RoceShare(kBestRoceMtu)));
}

uint64_t WireLimitBytesPerS(uint64_t bits_per_s, uint32_t mtu_bytes) {
  return static_cast<uint64_t>(static_cast<double>(bits_per_s) / 8 * RoceShare(mtu_bytes));
}

uint64_t PortBitsPerS(uint8_t active_speed, uint8_t active_width) {
  constexpr uint64_t kMega = 1'000'000;
  // InfiniBand Architecture vol. 1, PortInfo; RoCE ports use the codes for Ethernet's data rates.
  static const std::map<uint8_t, uint64_t> kLane = {
      {1, 2'500 * kMega},   {2, 5'000 * kMega},   {4, 10'000 * kMega},  {8, 10'000 * kMega},
      {16, 14'000 * kMega}, {32, 25'000 * kMega}, {64, 50'000 * kMega}, {128, 100'000 * kMega}};
  static const std::map<uint8_t, uint64_t> kLanes = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
  const auto lane = kLane.find(active_speed);
  const auto lanes = kLanes.find(active_width);
  return lane == kLane.end() || lanes == kLanes.end() ? 0 : lane->second * lanes->second;
}

uint32_t MtuBytes(ibv_mtu mtu) {
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

ibv_mtu MtuOf(uint32_t bytes) {
  for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; ++mtu) {
    if (MtuBytes(static_cast<ibv_mtu>(mtu)) == bytes) return static_cast<ibv_mtu>(mtu);
  }
  return static_cast<ibv_mtu>(0);
}

}  // namespace tapedeck::dataplane::verbs
