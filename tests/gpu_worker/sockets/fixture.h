// A table with its proxy and memory for programs, once on the host's threads and once on a GPU; one
// that this machine lacks is skipped with its reason. Everything is there before a kernel starts
// that runs until it is stopped: to make it then would wait for that kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "gpu_worker/device/list.h"
#include "gpu_worker/sockets/proxy.h"
#include "gpu_worker/sockets/socket_table.h"
#include "tests/gpu_worker/sockets/blocks.h"
#include "tests/gpu_worker/sockets/plain_tcp.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kLoopback = 0x7f000001;
inline constexpr uint32_t kMostBlocks = 16;

class KernelSocketsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const device::Room& room : device::Rooms()) {
      if (room.kind != GetParam()) continue;
      auto device = room.create(0);
      if (!device.ok()) GTEST_SKIP() << device.status().message();
      device_ = *std::move(device);
    }
    ASSERT_NE(device_, nullptr);
    if (on_gpu()) {
      ASSERT_EQ(LoadOnGpu(), "");
    }
    Serve({.sockets = 300, .ring_bytes = 16384});
    auto shared = device_->NewHostMemory(4096 + kMostBlocks * kResults * sizeof(int64_t));
    ASSERT_TRUE(shared.ok()) << shared.status();
    shared_ = *std::move(shared);
    auto buffers = device_->NewDeviceMemory(kMostBlocks * kBufferBytes);
    ASSERT_TRUE(buffers.ok()) << buffers.status();
    buffers_ = *std::move(buffers);
  }

  void Serve(const TableShape& shape) {
    auto table = SocketTable::Create(*device_, shape);
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *std::move(table);
    ProxySettings settings;
    settings.bind = {*Endpoints::Parse("127.0.0.1:*")};
    settings.reach = {*Endpoints::Parse("127.0.0.1:*")};
    auto proxy = Proxy::Create(*table_, settings);
    ASSERT_TRUE(proxy.ok()) << proxy.status();
    proxy_ = *std::move(proxy);
  }

  bool on_gpu() const { return !device_->info().works_in_host_memory; }

  // For the next run: results are zero, and nothing is stopped.
  Args NewArgs() {
    std::byte* const shared = shared_->window().bytes.data();
    std::memset(shared, 0, shared_->window().bytes.size());
    Args args;
    args.net = table_->net();
    args.address = kLoopback;
    args.timeout_ns = 10'000 * kMs;
    args.stop = reinterpret_cast<uint32_t*>(shared);
    args.results = reinterpret_cast<int64_t*>(shared + 4096);
    args.buffers = reinterpret_cast<unsigned char*>(buffers_->window().bytes.data());
    return args;
  }

  void RunOnce(Program program, const Args& args, uint32_t blocks = 1) {
    Blocks run(on_gpu(), program, args, blocks);
    ASSERT_EQ(run.Join(), "");
  }

  // A socket that listens, for the next run.
  Args Listening() {
    const Args args = NewArgs();
    RunOnce(Program::kListen, args);
    EXPECT_GT(args.results[0], 0) << strerror(static_cast<int>(-args.results[0]));
    const int64_t handle = args.results[0];
    const auto port = static_cast<uint32_t>(args.results[1]);
    EXPECT_GT(port, 0u);
    Args next = NewArgs();
    next.handle = handle;
    next.port = port;
    return next;
  }

  // A program that runs until it is stopped, whatever becomes of the test.
  class Server {
   public:
    Server(bool on_gpu, Program program, const Args& args, uint32_t blocks)
        : stop_(args.stop), run_(on_gpu, program, args, blocks) {}
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

  std::unique_ptr<device::Device> device_;
  std::unique_ptr<SocketTable> table_;
  std::unique_ptr<Proxy> proxy_;
  std::unique_ptr<dataplane::Memory> shared_;
  std::unique_ptr<dataplane::Memory> buffers_;
};

// CMake gives the tests whose name has "Cuda" the label gpu.
#define TAPEDECK_ON_HOST_AND_CUDA(Suite)                         \
  INSTANTIATE_TEST_SUITE_P(Host, Suite, testing::Values("host"), \
                           [](const auto&) { return "Host"; });  \
  INSTANTIATE_TEST_SUITE_P(Cuda, Suite, testing::Values("cuda"), [](const auto&) { return "Cuda"; })

}  // namespace tapedeck::gpu_worker::sockets
