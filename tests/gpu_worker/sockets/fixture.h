// A table with its proxy and memory for the programs of programs.h.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "tests/gpu_worker/sockets/programs.h"
#include "tests/gpu_worker/sockets/served.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kMostBlocks = 16;

class KernelSocketsTest : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Load<Calls>();
    auto served = ServedTable::Create(*device_, {.sockets = 300, .ring_bytes = 16384});
    ASSERT_TRUE(served.ok()) << served.status();
    table_ = std::move(served->table);
    proxy_ = std::move(served->proxy);
    auto shared = device_->NewHostMemory(4096 + kMostBlocks * kResults * sizeof(int64_t));
    ASSERT_TRUE(shared.ok()) << shared.status();
    shared_ = *std::move(shared);
    auto buffers = device_->NewDeviceMemory(kMostBlocks * kBufferBytes);
    ASSERT_TRUE(buffers.ok()) << buffers.status();
    buffers_ = *std::move(buffers);
  }

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
    args.buffer = reinterpret_cast<unsigned char*>(buffers_->window().bytes.data());
    return args;
  }

  void RunOnce(Program program, const Args& args, uint32_t blocks = 1) {
    Blocks run(on_gpu(), Calls{program, args}, blocks);
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

  std::unique_ptr<SocketTable> table_;
  std::unique_ptr<Proxy> proxy_;
  std::unique_ptr<dataplane::Memory> shared_;
  std::unique_ptr<dataplane::Memory> buffers_;
};

}  // namespace tapedeck::gpu_worker::sockets
