// The RDMA port of a rail's address: its device, its state, its GID, and the device's reports about
// it. Opened on any thread; on the rail's poller from Watch on, except for context() and name().
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/verbs/port/address.h"
#include "dataplane/transport/verbs/port/diagnosis.h"
#include "dataplane/transport/verbs/port/objects.h"

namespace tapedeck::dataplane::verbs {

// What a queue pair needs to know of its own end. Asked for anew each time: the index of a GID
// moves when addresses change.
struct LocalPath {
  Gid gid{};
  uint8_t gid_index = 0;
  uint32_t mtu_bytes = 0;
};

// Owned by the rail's transport; outlives its domains.
class Port {
 public:
  using OnFailure = std::function<void(const absl::Status&)>;
  using QpNumbers = std::array<uint32_t, 2>;

  // NO_RDMA_DEVICE if no RDMA port has the address.
  static absl::StatusOr<std::unique_ptr<Port>> Open(const std::string& rail,
                                                    const std::string& address);
  ~Port();

  // From here on events are taken from the device.
  absl::Status Watch(EventLoop& poller);

  // The path of a new queue pair; PORT_DOWN, NO_ROCE_V2_GID or DEVICE_GONE if there is none.
  absl::StatusOr<LocalPath> Path() const;

  // `on_failure` is called, at most once and never inside a call to this, when the port, the device
  // or one of these queue pairs fails.
  uint64_t Subscribe(const QpNumbers& qp_numbers, OnFailure on_failure);
  void Unsubscribe(uint64_t subscription) { subscribers_.erase(subscription); }

  ibv_context* context() const { return context_.get(); }
  const PortName& name() const { return name_; }
  uint32_t max_reads() const { return max_reads_; }
  uint64_t max_message_bytes() const { return max_message_bytes_; }
  // At the time it was opened.
  uint64_t bits_per_s() const { return bits_per_s_; }
  uint32_t mtu_bytes() const { return mtu_bytes_; }

 private:
  struct Subscriber {
    QpNumbers qp_numbers;
    OnFailure on_failure;
  };

  Port(PortName name, const Gid& gid) : name_(std::move(name)), gid_(gid) {}
  absl::Status Bind();
  absl::Status Inspect();
  absl::StatusOr<ibv_port_attr> Query() const;
  void OnDeviceEvents();
  void OnDeviceEvent(ibv_event_type type, uint32_t port, uint32_t qp_number);
  void OnCmEvents();
  void FailAll(const absl::Status& cause);

  PortName name_;
  const Gid gid_;
  CmChannel cm_channel_;
  CmId cm_id_;  // bound, so that the kernel reports the removal of the device
  Context context_;
  uint32_t max_reads_ = 0;
  uint64_t max_message_bytes_ = 0;
  uint64_t bits_per_s_ = 0;
  uint32_t mtu_bytes_ = 0;
  bool gone_ = false;
  EventLoop* poller_ = nullptr;  // set by Watch
  uint64_t next_subscription_ = 1;
  std::map<uint64_t, Subscriber> subscribers_;
  Lifetime lifetime_;
};

// OK if some RDMA port of this machine is up and has an IPv4 address, else why not; and the first
// such address, empty if there is none.
absl::Status AnyPort();
std::string FirstAddress();

}  // namespace tapedeck::dataplane::verbs
