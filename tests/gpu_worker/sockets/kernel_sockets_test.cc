// Kernels, or threads of the CPU in their place, talk to ordinary programs.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu_worker/sockets/fixture.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

TAPEDECK_ON_HOST_AND_CUDA(KernelSocketsTest);

size_t EntriesOf(const char* path) {
  size_t count = 0;
  DIR* const folder = opendir(path);
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}
size_t OpenDescriptors() { return EntriesOf("/proc/self/fd"); }

// Of the process, whether it is used or not: memory that is pinned for a device is not counted
// among what a process has in use.
uint64_t MappedBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// What comes back of `bytes` while they are sent, to the end of the stream.
std::string EchoOf(const Fd& client, const std::string& bytes) {
  std::thread sender([&] {
    EXPECT_TRUE(PlainSend(client, bytes));
    shutdown(client.get(), SHUT_WR);
  });
  std::string back = PlainReceive(client, bytes.size() + 1);
  sender.join();
  return back;
}

TEST_P(KernelSocketsTest, AnEchoServerGivesBackWhatAnOrdinaryClientSends) {
  const Args args = Listening();
  Server server(on_gpu(), Calls{Program::kEcho, args}, args.stop, 2);
  uint64_t all_bytes = 0;
  uint32_t seed = 1;
  for (const size_t bytes : {1, 64, 4096, 16384, 16385, 1 << 20}) {
    const std::string sent = RandomBytes(bytes, seed++);
    EXPECT_TRUE(EchoOf(PlainConnect(args.port), sent) == sent) << bytes;
    all_bytes += bytes;
  }
  ASSERT_EQ(server.Stop(), "");
  EXPECT_EQ(args.results[0] + args.results[kResults], 6);
  EXPECT_EQ(args.results[1] + args.results[kResults + 1], static_cast<int64_t>(all_bytes));
  EXPECT_EQ(args.results[2], 0) << strerror(static_cast<int>(-args.results[2]));
  EXPECT_EQ(args.results[kResults + 2], 0);
}

TEST_P(KernelSocketsTest, TwoHundredFiftySixSocketsAtOnce) {
  constexpr size_t kClients = 256;
  constexpr uint32_t kBlocks = 5;
  const Args args = Listening();
  Server server(on_gpu(), Calls{Program::kPollEcho, args}, args.stop, kBlocks);
  std::vector<Fd> clients;
  for (size_t i = 0; i < kClients; ++i) clients.push_back(PlainConnect(args.port));
  EXPECT_TRUE(Soon([&] { return proxy_->counts().connections == kClients; }));
  std::vector<size_t> order(kClients);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(3);
  for (uint32_t round = 0; round < 3; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      ASSERT_TRUE(PlainSend(clients[i], RandomBytes(1 + i * 37, round * 1000 + i)));
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      const std::string sent = RandomBytes(1 + i * 37, round * 1000 + i);
      ASSERT_TRUE(PlainReceive(clients[i], sent.size()) == sent) << i;
    }
  }
  EXPECT_EQ(proxy_->counts().connections, kClients);
  clients.clear();
  EXPECT_TRUE(Soon([&] { return proxy_->counts().connections == 0; }));
  ASSERT_EQ(server.Stop(), "");
  int64_t connections = 0;
  for (uint32_t block = 0; block < kBlocks; ++block) {
    connections += args.results[block * kResults];
    EXPECT_EQ(args.results[block * kResults + 2], 0) << block;
  }
  EXPECT_EQ(connections, static_cast<int64_t>(kClients));
}

// Gives back what comes over `connections` connections, one after the other.
std::thread EchoServer(const Fd& listener, int connections) {
  return std::thread([&listener, connections] {
    for (int i = 0; i < connections; ++i) {
      const Fd peer = PlainAccept(listener);
      while (true) {
        std::string some(65536, '\0');
        const ssize_t got = recv(peer.get(), some.data(), some.size(), 0);
        if (got <= 0) break;
        some.resize(got);
        if (!PlainSend(peer, some)) break;
      }
    }
  });
}

TEST_P(KernelSocketsTest, AProgramConnectsToAnOrdinaryServer) {
  for (const Program program : {Program::kExchange, Program::kLateExchange}) {
    Args args = NewArgs();
    const Fd listener = PlainListen(&args.port);
    args.bytes = 1'000'003;
    std::thread server = EchoServer(listener, 4);
    Blocks run(on_gpu(), Calls{program, args}, 4);
    EXPECT_EQ(run.Join(), "");
    server.join();
    for (uint32_t block = 0; block < 4; ++block) {
      const int64_t* const results = args.results + block * kResults;
      EXPECT_GT(results[0], 0);
      EXPECT_EQ(results[1], 1'000'003);
      EXPECT_EQ(results[2], 0);
      EXPECT_EQ(results[3], -EBADF) << "of a closed socket";
      EXPECT_EQ(results[4], 1);
      EXPECT_EQ(results[5], kWritable);
    }
  }
}

TEST_P(KernelSocketsTest, WhatNobodyWaitedForIsRefusedLater) {
  Args args = NewArgs();
  { const Fd closed = PlainListen(&args.port); }
  args.bytes = 8;
  RunOnce(Program::kLateExchange, args);
  EXPECT_GT(args.results[0], 0);
  EXPECT_EQ(args.results[5], kWritable | kFailed);
  EXPECT_EQ(args.results[1], -ECONNREFUSED);
}

TEST_P(KernelSocketsTest, EachRefusalHasItsName) {
  Args args = Listening();
  { const Fd closed = PlainListen(&args.port); }
  RunOnce(Program::kErrors, args);
  const std::vector<int64_t> told(args.results, args.results + 12);
  EXPECT_EQ(told, (std::vector<int64_t>{-EBADF, -ECONNREFUSED, -EACCES, -EACCES, -ETIMEDOUT,
                                        -EAGAIN, -ENOTCONN, -EINVAL, -EBADF, 0, -EBADF, -EINVAL}));
  EXPECT_EQ(proxy_->counts().refused, 2u);
}

// A client that sends 100 bytes of a message of 1000, and then does `next`; what grecv_whole says.
template <typename Next>
int64_t InMidMessage(bool on_gpu, Args args, size_t bytes, Next next) {
  args.bytes = 1000;
  Blocks run(on_gpu, Calls{Program::kReadWhole, args}, 1);
  Fd client = PlainConnect(args.port);
  EXPECT_TRUE(PlainSend(client, std::string(bytes, 'x')));
  next(std::move(client));
  EXPECT_EQ(run.Join(), "");
  EXPECT_GT(args.results[0], 0);
  return args.results[1];
}

TEST_P(KernelSocketsTest, APeerThatGoesInMidMessageIsNamed) {
  const auto leave = [](Fd) {};
  EXPECT_EQ(InMidMessage(on_gpu(), Listening(), 1000, leave), 1000);
  EXPECT_EQ(InMidMessage(on_gpu(), Listening(), 0, leave), 0);
  EXPECT_EQ(InMidMessage(on_gpu(), Listening(), 100, leave), -ECONNRESET);
  EXPECT_EQ(
      InMidMessage(on_gpu(), Listening(), 100, [](Fd client) { PlainReset(std::move(client)); }),
      -ECONNRESET);
}

TEST_P(KernelSocketsTest, APeerThatFallsSilentInMidMessageIsNamedWithinTheDeadline) {
  Args args = Listening();
  args.timeout_ns = 300 * kMs;
  Fd kept;
  EXPECT_EQ(InMidMessage(on_gpu(), args, 100, [&](Fd client) { kept = std::move(client); }),
            -ETIMEDOUT);
  EXPECT_GE(args.results[2], 299 * kMs);
  EXPECT_LT(args.results[2], 3000 * kMs);
}

TEST_P(KernelSocketsTest, WhoWaitsIsToldWhenNobodyServesTheTableAnyMore) {
  Args args = Listening();
  Blocks run(on_gpu(), Calls{Program::kWait, args}, 1);
  const Fd client = PlainConnect(args.port);
  EXPECT_TRUE(Soon([&] { return proxy_->counts().connections == 1; }));
  const int64_t begin_ns = NowNs();
  proxy_ = nullptr;
  EXPECT_EQ(run.Join(), "");
  EXPECT_LT(NowNs() - begin_ns, 2000 * kMs);
  EXPECT_GT(args.results[0], 0);
  EXPECT_EQ(args.results[1], -ENETDOWN);
  EXPECT_EQ(args.results[2], -ENETDOWN);
  int error = 0;
  EXPECT_EQ(PlainReceive(client, 1, &error), "");
  EXPECT_EQ(error, ECONNRESET) << "a stream that breaks off must not look as if it had ended";
}

TEST_P(KernelSocketsTest, ManyConnectionsLeaveNothingBehind) {
  const Args args = Listening();
  Server server(on_gpu(), Calls{Program::kEcho, args}, args.stop, 2);
  const size_t before = OpenDescriptors();
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(EchoOf(PlainConnect(args.port), "hello"), "hello");
  }
  EXPECT_TRUE(Soon([&] { return proxy_->counts().connections == 0; }));
  EXPECT_EQ(OpenDescriptors(), before);
  ASSERT_EQ(server.Stop(), "");
  EXPECT_EQ(args.results[2], 0) << strerror(static_cast<int>(-args.results[2]));
  EXPECT_EQ(args.results[kResults + 2], 0);
  EXPECT_EQ(proxy_->counts().accepted, 100u);
  EXPECT_EQ(proxy_->counts().in_bytes, 500u);
  EXPECT_EQ(proxy_->counts().out_bytes, 500u);
}

TEST_P(KernelSocketsTest, AHundredTablesLeaveNothingBehind) {
  constexpr TableShape kShape{.sockets = 16, .ring_bytes = 64 << 10};  // 2 MiB
  const auto make_one = [&] {
    const auto served = ServedTable::Create(*device_, kShape);
    ASSERT_TRUE(served.ok()) << served.status();
    EXPECT_EQ(served->proxy->counts().connections, 0u);
  };
  for (int i = 0; i < 3; ++i) make_one();  // what is kept for ever
  const size_t descriptors = OpenDescriptors();
  const size_t threads = EntriesOf("/proc/self/task");
  const uint64_t mapped = MappedBytes();
  for (int i = 0; i < 100; ++i) make_one();
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_TRUE(Soon([&] { return EntriesOf("/proc/self/task") == threads; }));
  EXPECT_LT(MappedBytes(), mapped + (uint64_t{100} << 20)) << "of 200 MiB";
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets
