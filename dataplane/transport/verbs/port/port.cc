#include "dataplane/transport/verbs/port/port.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/port/limits.h"

namespace tapedeck::dataplane::verbs {
namespace {

// A port has one GID per address and type; more than this on one device would be no server.
constexpr size_t kMaxGids = 1024;

std::vector<ibv_gid_entry> GidsOf(ibv_context* context) {
  std::vector<ibv_gid_entry> entries(kMaxGids);
  const ssize_t n = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  entries.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return entries;
}

const char* TypeName(uint32_t gid_type) {
  return gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCEv2"
         : gid_type == IBV_GID_TYPE_IB    ? "InfiniBand"
                                          : "RoCEv1";
}

bool IsUp(ibv_context* context, uint32_t port) {
  ibv_port_attr attributes{};
  return ibv_query_port(context, static_cast<uint8_t>(port), &attributes) == 0 &&
         attributes.state == IBV_PORT_ACTIVE;
}

// The first address at which this machine can be reached over RoCEv2.
absl::StatusOr<std::string> FindAddress() {
  int devices = 0;
  const DeviceList list(ibv_get_device_list(&devices));
  if (list == nullptr || devices == 0) {
    return NoDevice("of any rail", "this machine has no RDMA device");
  }
  for (int i = 0; i < devices; ++i) {
    const absl::StatusOr<Context> context = OpenDevice(list.get()[i]);
    if (!context.ok()) return context.status();
    for (const ibv_gid_entry& entry : GidsOf(context->get())) {
      const SocketAddress address(GidOf(entry.gid));
      if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && !address.is_v6() &&
          IsUp(context->get(), entry.port_num)) {
        return address.ip();
      }
    }
  }
  return NoDevice("of any rail", absl::StrCat("none of the ", devices,
                                              " RDMA devices has a port that is up with an IPv4 "
                                              "address"));
}

}  // namespace

absl::Status AnyPort() { return FindAddress().status(); }

std::string FirstAddress() {
  const absl::StatusOr<std::string> address = FindAddress();
  return address.ok() ? *address : "";
}

absl::StatusOr<std::unique_ptr<Port>> Port::Open(const std::string& rail,
                                                 const std::string& address) {
  TD_ASSIGN_OR_RETURN(const Gid gid, GidOf(address));
  auto port = std::unique_ptr<Port>(new Port({.rail = rail, .address = address}, gid));
  if (const absl::Status status = port->Bind(); !status.ok()) {
    return NoDevice(address, std::string(status.message()));
  }
  TD_RETURN_IF_ERROR(port->Inspect());
  return port;
}

// librdmacm knows to which device and port an address belongs.
absl::Status Port::Bind() {
  TD_ASSIGN_OR_RETURN(cm_channel_, CreateCmChannel());
  TD_ASSIGN_OR_RETURN(cm_id_, CreateCmId(cm_channel_.get()));
  SocketAddress local(gid_);
  if (rdma_bind_addr(cm_id_.get(), local.get()) != 0) {
    return ErrnoStatus("rdma_bind_addr", errno);
  }
  if (cm_id_->verbs == nullptr) {
    return absl::UnavailableError("rdma_bind_addr: no RDMA port has this address");
  }
  name_.device = ibv_get_device_name(cm_id_->verbs->device);
  name_.port = cm_id_->port_num;
  // A context of its own: that of librdmacm is shared by the rails of this process, and so would be
  // its events.
  TD_ASSIGN_OR_RETURN(context_, OpenDevice(cm_id_->verbs->device));
  return SetNonBlocking(context_->async_fd);
}

absl::Status Port::Inspect() {
  ibv_device_attr device{};
  if (const int error = ibv_query_device(context_.get(), &device); error != 0) {
    return ErrnoStatus("ibv_query_device", error);
  }
  const int reads = std::min(device.max_qp_rd_atom, device.max_qp_init_rd_atom);
  max_reads_ = std::min(kMaxReads, static_cast<uint32_t>(std::max(reads, 1)));
  TD_ASSIGN_OR_RETURN(const ibv_port_attr port, Query());
  max_message_bytes_ = port.max_msg_sz;
  bits_per_s_ = PortBitsPerS(port.active_speed, port.active_width);
  mtu_bytes_ = MtuBytes(port.active_mtu);
  return absl::OkStatus();
}

Port::~Port() {
  if (poller_ == nullptr) return;
  poller_->Unwatch(context_->async_fd);
  poller_->Unwatch(cm_channel_->fd);
}

absl::Status Port::Watch(EventLoop& poller) {
  poller_ = &poller;
  TD_RETURN_IF_ERROR(poller.Watch(context_->async_fd, EPOLLIN,
                                  lifetime_.Guard([this](uint32_t) { OnDeviceEvents(); })));
  return poller.Watch(cm_channel_->fd, EPOLLIN,
                      lifetime_.Guard([this](uint32_t) { OnCmEvents(); }));
}

absl::StatusOr<ibv_port_attr> Port::Query() const {
  ibv_port_attr attributes{};
  if (const int error =
          ibv_query_port(context_.get(), static_cast<uint8_t>(name_.port), &attributes);
      error != 0) {
    return ErrnoStatus("ibv_query_port", error);
  }
  return attributes;
}

absl::StatusOr<LocalPath> Port::Path() const {
  if (gone_) return DeviceGone(name_);
  TD_ASSIGN_OR_RETURN(const ibv_port_attr port, Query());
  if (port.state != IBV_PORT_ACTIVE) return PortDown(name_, port.state);
  std::vector<std::string> others;
  for (const ibv_gid_entry& entry : GidsOf(context_.get())) {
    if (entry.port_num != name_.port) continue;
    if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && GidOf(entry.gid) == gid_) {
      return LocalPath{.gid = gid_,
                       .gid_index = static_cast<uint8_t>(entry.gid_index),
                       .mtu_bytes = MtuBytes(port.active_mtu)};
    }
    others.push_back(absl::StrCat(SocketAddress(GidOf(entry.gid)).ip(), " (",
                                  TypeName(entry.gid_type), ", index ", entry.gid_index, ")"));
  }
  return NoRoceV2Gid(name_, absl::StrJoin(others, ", "));
}

uint64_t Port::Subscribe(const QpNumbers& qp_numbers, OnFailure on_failure) {
  const uint64_t id = next_subscription_++;
  subscribers_[id] = {qp_numbers, std::move(on_failure)};
  return id;
}

void Port::OnDeviceEvents() {
  ibv_async_event event;
  // One record per read.
  while (ibv_get_async_event(context_.get(), &event) == 0) {
    const bool of_qp = event.event_type == IBV_EVENT_QP_FATAL ||
                       event.event_type == IBV_EVENT_QP_REQ_ERR ||
                       event.event_type == IBV_EVENT_QP_ACCESS_ERR;
    const uint32_t qp_number = of_qp ? event.element.qp->qp_num : 0;
    const uint32_t port = of_qp ? 0 : static_cast<uint32_t>(event.element.port_num);
    // Before anything is destroyed: destruction waits for it.
    ibv_ack_async_event(&event);
    OnDeviceEvent(event.event_type, port, qp_number);
  }
}

// May come more than once for one change.
void Port::OnDeviceEvent(ibv_event_type type, uint32_t port, uint32_t qp_number) {
  Log(LogLevel::kInfo, "transport/verbs", "device event",
      {{"rail", name_.rail}, {"device", name_.device}, {"event", ibv_event_type_str(type)}});
  switch (type) {
    case IBV_EVENT_PORT_ERR:
      if (port == name_.port) FailAll(PortDown(name_, IBV_PORT_DOWN));
      break;
    case IBV_EVENT_GID_CHANGE:
      // The queue pairs stay if the address is still there.
      if (const absl::Status status = Path().status(); !status.ok()) FailAll(status);
      break;
    case IBV_EVENT_DEVICE_FATAL:
      gone_ = true;
      FailAll(DeviceGone(name_));
      break;
    case IBV_EVENT_CQ_ERR:
      // Rare enough that its queue is not looked for.
      FailAll(QueueFailed(type));
      break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      for (const auto& [id, subscriber] : subscribers_) {
        if (std::ranges::find(subscriber.qp_numbers, qp_number) == subscriber.qp_numbers.end()) {
          continue;
        }
        poller_->Post(lifetime_.Guard([this, subscription = id, type] {
          const auto found = subscribers_.extract(subscription);
          if (!found.empty()) found.mapped().on_failure(QueueFailed(type));
        }));
      }
      break;
    default:
      break;  // PORT_ACTIVE and the like: whoever needs the port asks for its path
  }
}

void Port::OnCmEvents() {
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(cm_channel_.get(), &event) == 0) {
    const bool removed = event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
    rdma_ack_cm_event(event);
    if (!removed) continue;
    gone_ = true;
    FailAll(DeviceGone(name_));
    // The removal waits for this.
    cm_id_.reset();
  }
}

void Port::FailAll(const absl::Status& cause) {
  auto failed = std::exchange(subscribers_, {});
  for (auto& [id, subscriber] : failed) subscriber.on_failure(cause);
}

}  // namespace tapedeck::dataplane::verbs
