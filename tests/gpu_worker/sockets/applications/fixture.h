// What tests of servers need: a table, a socket that listens, memory of both kinds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "tests/gpu_worker/sockets/applications/listen.h"
#include "tests/gpu_worker/sockets/applications/server_args.h"
#include "tests/gpu_worker/sockets/served.h"

namespace tapedeck::gpu_worker::sockets {

// Memory of a device, and what moves bytes between it and the host. While no kernel runs on and on.
class DeviceBytes {
 public:
  static constexpr size_t kStageBytes = 1 << 20;

  // All zero.
  static absl::StatusOr<DeviceBytes> Create(device::Device& device, size_t bytes) {
    DeviceBytes made;
    made.bytes_ = bytes;
    TD_ASSIGN_OR_RETURN(made.memory_, device.NewDeviceMemory(bytes));
    TD_ASSIGN_OR_RETURN(made.stage_, device.NewHostMemory(kStageBytes));
    TD_ASSIGN_OR_RETURN(made.queue_, device.NewQueue());
    std::memset(made.stage(), 0, kStageBytes);
    for (size_t at = 0; at < bytes; at += kStageBytes) {
      TD_RETURN_IF_ERROR(
          made.queue_->CopyToDevice(made.at(at), made.stage(), std::min(kStageBytes, bytes - at)));
    }
    TD_RETURN_IF_ERROR(made.Wait());
    return made;
  }

  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(memory_->window().bytes.data());
  }

  absl::Status Fill(const void* from, size_t bytes) {
    for (size_t done = 0; done < bytes; done += kStageBytes) {
      const size_t now = std::min(kStageBytes, bytes - done);
      std::memcpy(stage(), static_cast<const std::byte*>(from) + done, now);
      TD_RETURN_IF_ERROR(queue_->CopyToDevice(at(done), stage(), now));
      TD_RETURN_IF_ERROR(Wait());
    }
    return absl::OkStatus();
  }

  // Of where `from` points in it.
  absl::Status Read(void* to, const void* from, size_t bytes) {
    for (size_t done = 0; done < bytes; done += kStageBytes) {
      const size_t now = std::min(kStageBytes, bytes - done);
      TD_RETURN_IF_ERROR(
          queue_->CopyToHost(stage(), static_cast<const std::byte*>(from) + done, now));
      TD_RETURN_IF_ERROR(Wait());
      std::memcpy(static_cast<std::byte*>(to) + done, stage(), now);
    }
    return absl::OkStatus();
  }

 private:
  std::byte* stage() const { return stage_->window().bytes.data(); }
  std::byte* at(size_t offset) const { return memory_->window().bytes.data() + offset; }

  absl::Status Wait() {
    absl::Notification done;
    absl::Status result;
    queue_->Then([&](absl::Status status) {
      result = std::move(status);
      done.Notify();
    });
    done.WaitForNotification();
    return result;
  }

  size_t bytes_ = 0;
  std::unique_ptr<dataplane::Memory> memory_;
  std::unique_ptr<dataplane::Memory> stage_;
  std::unique_ptr<device::Queue> queue_;
};

// A table whose first socket listens.
class Listening {
 public:
  static constexpr size_t kSharedBytes = 8192;
  static constexpr uint32_t kMostBlocks = 64;
  static_assert(sizeof(ListenResult) <= 64 && 128 + kMostBlocks * sizeof(Served) <= kSharedBytes);

  // The kernel of Listen is loaded.
  static absl::StatusOr<Listening> Create(device::Device& device, const TableShape& shape,
                                          const ProxySettings& settings = {}) {
    Listening made;
    TD_ASSIGN_OR_RETURN(made.shared_, device.NewHostMemory(kSharedBytes));
    std::memset(made.shared(0), 0, kSharedBytes);
    TD_ASSIGN_OR_RETURN(made.tables_, ServedTable::Create(device, shape, settings));
    auto* const result = reinterpret_cast<ListenResult*>(made.shared(64));
    Blocks run(!device.info().works_in_host_memory, Listen{made.net(), result}, 1);
    if (const std::string error = run.Join(); !error.empty()) return absl::InternalError(error);
    if (result->handle < 0) return absl::InternalError(strerror(static_cast<int>(-result->handle)));
    made.handle_ = result->handle;
    made.port_ = static_cast<uint32_t>(result->port);
    return made;
  }

  const Net& net() const { return tables_.table->net(); }
  uint32_t port() const { return port_; }
  Proxy& proxy() { return *tables_.proxy; }

  // For a run; `stop` is zero and nothing is counted.
  ServerArgs NewArgs() {
    std::memset(shared(0), 0, kSharedBytes);
    ServerArgs args;
    args.net = net();
    args.listener = handle_;
    args.timeout_ns = 10'000'000'000;
    args.stop = reinterpret_cast<uint32_t*>(shared(0));
    args.served = reinterpret_cast<Served*>(shared(128));
    return args;
  }

 private:
  std::byte* shared(size_t at) const { return shared_->window().bytes.data() + at; }

  std::unique_ptr<dataplane::Memory> shared_;
  ServedTable tables_;
  int64_t handle_ = 0;
  uint32_t port_ = 0;
};

inline Served SumOf(const Served* served, uint32_t blocks) {
  Served sum{};
  for (uint32_t i = 0; i < blocks; ++i) {
    sum.connections += served[i].connections;
    sum.answers += served[i].answers;
    if (sum.fault == 0) sum.fault = served[i].fault;
  }
  return sum;
}

// Bytes of a plain value, as they go over the network between equal machines.
template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace tapedeck::gpu_worker::sockets
