// Tables with their proxies, once on the host's threads and once on a GPU; a device that this
// machine lacks is skipped with its reason. Everything is there before a kernel starts that runs
// until it is stopped: to make it then would wait for that kernel.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "dataplane/status_macros.h"
#include "gpu_worker/device/list.h"
#include "gpu_worker/sockets/proxy.h"
#include "gpu_worker/sockets/socket_table.h"
#include "tests/gpu_worker/sockets/blocks.h"
#include "tests/gpu_worker/sockets/plain_tcp.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kLoopback = 0x7f000001;

// A table, served over loopback. The proxy ends first.
struct ServedTable {
  std::unique_ptr<SocketTable> table;
  std::unique_ptr<Proxy> proxy;

  static absl::StatusOr<ServedTable> Create(device::Device& device, const TableShape& shape,
                                            ProxySettings settings = {}) {
    ServedTable served;
    TD_ASSIGN_OR_RETURN(served.table, SocketTable::Create(device, shape));
    settings.bind = {*Endpoints::Parse("127.0.0.1:*")};
    settings.reach = {*Endpoints::Parse("127.0.0.1:*")};
    TD_ASSIGN_OR_RETURN(served.proxy, Proxy::Create(*served.table, settings));
    return served;
  }
};

// A program that runs until it is stopped, whatever becomes of the test.
class Server {
 public:
  template <typename Program>
  Server(bool on_gpu, const Program& program, uint32_t* stop, uint32_t blocks)
      : stop_(stop), run_(on_gpu, program, blocks) {}
  ~Server() { static_cast<void>(Stop()); }
  std::string Stop() {
    StoreRelease(stop_, uint32_t{1});
    return run_.Join();
  }

 private:
  uint32_t* const stop_;
  Blocks run_;
};

// Until `done`, 20 s at most.
template <typename Done>
bool Soon(Done done) {
  for (int i = 0; i < 4000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// A suite over kinds of devices.
class OnDevices : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const device::DeviceEntry& entry : device::DeviceEntries()) {
      if (entry.kind != GetParam()) continue;
      auto device = entry.create(0);
      if (!device.ok()) GTEST_SKIP() << device.status().message();
      device_ = *std::move(device);
    }
    ASSERT_NE(device_, nullptr);
  }

  bool on_gpu() const { return !device_->info().works_in_host_memory; }

  // Before tables and memory are made.
  template <typename Program>
  void Load() {
    if (on_gpu()) {
      ASSERT_EQ(LoadOnGpu<Program>(), "");
    }
  }

  std::unique_ptr<device::Device> device_;
};

// CMake gives the tests whose name has "Cuda" the label gpu.
#define TAPEDECK_ON_HOST_AND_CUDA(Suite)                         \
  INSTANTIATE_TEST_SUITE_P(Host, Suite, testing::Values("host"), \
                           [](const auto&) { return "Host"; });  \
  INSTANTIATE_TEST_SUITE_P(Cuda, Suite, testing::Values("cuda"), [](const auto&) { return "Cuda"; })

}  // namespace tapedeck::gpu_worker::sockets
