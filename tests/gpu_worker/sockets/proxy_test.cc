// The proxy and the table from both sides: the test is the kernel, and the peer.
#include "gpu_worker/sockets/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "gpu_worker/device/list.h"
#include "gpu_worker/sockets/sockets_device.h"
#include "tests/gpu_worker/sockets/plain_tcp.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

using testing::HasSubstr;

constexpr uint32_t kHere = 0x7f000001;
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1000 * kMillisecond;

std::unique_ptr<device::Device> HostDevice() {
  for (const device::DeviceEntry& entry : device::DeviceEntries()) {
    if (entry.kind == "host") return *entry.create(0);
  }
  return nullptr;
}

class ProxyTest : public testing::Test {
 protected:
  ProxyTest() { Serve({.sockets = 8, .ring_bytes = 4096}); }

  void Serve(const TableShape& shape, int64_t linger_ns = 5 * kSecond) {
    proxy_ = nullptr;
    table_ = *SocketTable::Create(*device_, shape);
    ProxySettings settings;
    settings.bind = {*Endpoints::Parse("127.0.0.1:*")};
    settings.reach = {*Endpoints::Parse("127.0.0.1:*")};
    settings.linger_ns = linger_ns;
    proxy_ = *Proxy::Create(*table_, settings);
  }

  const Net& net() const { return table_->net(); }

  // A handle, and the plain end of its connection.
  std::pair<int64_t, Fd> Connect() {
    const int64_t handle = gconnect(net(), kHere, port_, kSecond);
    EXPECT_GE(handle, 0) << strerror(static_cast<int>(-handle));
    return {handle, PlainAccept(listener_)};
  }
  uint32_t SocketOf(int64_t handle) { return static_cast<uint32_t>(FindSocket(net(), handle)); }

  template <typename Done>
  bool Soon(Done done) {
    const int64_t end_ns = NowNs() + 20 * kSecond;
    while (!done()) {
      if (NowNs() > end_ns) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  // Sends to a peer that does not read until nothing has moved for a while; how much that was.
  int64_t FillUp(int64_t handle) {
    const std::string much(1 << 20, 'x');
    int64_t all = 0;
    while (all < int64_t{1} << 30) {
      const int64_t sent = gsend(net(), handle, much.data(), much.size(), 500 * kMillisecond);
      if (sent < 0) {
        EXPECT_EQ(sent, -ETIMEDOUT);
        return all;
      }
      all += sent;
    }
    ADD_FAILURE() << "the buffers have no end";
    return all;
  }

  bool IsReset(const Fd& peer) {
    int error = 0;
    while (PlainReceive(peer, 1 << 20, &error).size() == 1 << 20) {
    }
    return error == ECONNRESET;
  }

  const std::unique_ptr<device::Device> device_ = HostDevice();
  std::unique_ptr<SocketTable> table_;
  std::unique_ptr<Proxy> proxy_;
  uint32_t port_ = 0;
  const Fd listener_ = PlainListen(&port_);
};

TEST_F(ProxyTest, BytesGoBothWays) {
  const auto [handle, peer] = Connect();
  const std::string sent = RandomBytes(3000, 1);
  EXPECT_EQ(gsend(net(), handle, sent.data(), sent.size(), kSecond), 3000);
  EXPECT_TRUE(PlainReceive(peer, 3000) == sent);
  EXPECT_TRUE(PlainSend(peer, sent));
  std::string got(3000, '\0');
  EXPECT_EQ(grecv_whole(net(), handle, got.data(), got.size(), kSecond), 3000);
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(grecv(net(), handle, got.data(), got.size(), 0), -EAGAIN);
  EXPECT_EQ(gclose(net(), handle, kSecond), 0);
  EXPECT_EQ(PlainReceive(peer, 1), "");
}

TEST_F(ProxyTest, ACounterOfAKernelThatCannotBeTrueEndsItsConnectionAlone) {
  const auto [good, good_peer] = Connect();
  uint64_t broken = 0;
  for (const bool out : {true, false}) {
    const auto [bad, bad_peer] = Connect();
    KernelLine& line = net().kernel[SocketOf(bad)];
    StoreRelease(out ? &line.to_network.written : &line.from_network.read, uint64_t{1} << 40);
    if (!out) {
      EXPECT_TRUE(PlainSend(bad_peer, "so that the proxy looks"));
    }
    EXPECT_TRUE(IsReset(bad_peer));
    ++broken;
    EXPECT_TRUE(Soon([&] { return proxy_->counts().broken == broken; }));
    char byte;
    EXPECT_TRUE(Soon([&, handle = bad] { return grecv(net(), handle, &byte, 1, 0) == -EPROTO; }));
    EXPECT_EQ(gclose(net(), bad, kSecond), -EPROTO);
  }
  EXPECT_EQ(gsend(net(), good, "hello", 5, kSecond), 5);
  EXPECT_EQ(PlainReceive(good_peer, 5), "hello");
}

TEST_F(ProxyTest, ACounterOfTheProxyThatCannotBeTrueIsAnErrorOfTheKernels) {
  const auto [handle, peer] = Connect();
  ProxyLine& line = net().proxy[SocketOf(handle)];
  StoreRelease(&line.from_network.written, uint64_t{4097});
  char byte = 0;
  EXPECT_EQ(grecv(net(), handle, &byte, 1, kSecond), -EPROTO);
}

TEST_F(ProxyTest, CommandsThatAreNoneAreAnsweredWithTheirError) {
  const auto answer = [&](uint32_t socket, uint64_t number) {
    StoreRelease(&net().commands[socket], number);
    EXPECT_TRUE(Soon([&] { return LoadAcquire(&net().proxy[socket].answered) == number; }));
    return net().proxy[socket].result;
  };
  EXPECT_EQ(answer(3, 77), -EPROTO);
  EXPECT_EQ(answer(3, 12), -EPROTO);
  net().kernel[4].command = {static_cast<Operation>(99), kHere, 1, 0, kSecond};
  EXPECT_EQ(answer(4, 1), -EINVAL);
  net().kernel[4].command = {Operation::kAccept, 0, 0, 1'000'000'000, kSecond};
  EXPECT_EQ(answer(4, 2), -EINVAL);
  net().kernel[4].command = {Operation::kAccept, 0, 0, 3, kSecond};
  EXPECT_EQ(answer(4, 3), -EINVAL);
  net().kernel[4].command = {Operation::kConnect, kHere, port_, 0, -1};
  EXPECT_EQ(answer(4, 4), -EPROTO);
  net().kernel[4].command = {Operation::kConnect, kHere, port_ + (1u << 16), 0, kSecond};
  EXPECT_EQ(answer(4, 5), -EACCES);
  net().kernel[4].command = {Operation::kClose, 0, 0, 0, 0};
  EXPECT_EQ(answer(4, 6), -EBADF);
}

TEST_F(ProxyTest, AnOpenSocketThatIsOpenedAgainLosesItsConnection) {
  const auto [handle, peer] = Connect();
  const uint32_t socket = SocketOf(handle);
  Issue(net(), socket, {Operation::kConnect, kHere, port_, 0, kSecond});
  EXPECT_EQ(AwaitAnswer(net(), socket, kSecond), 0);
  EXPECT_EQ(PlainReceive(peer, 1), "");
  EXPECT_EQ(proxy_->counts().connections, 1u);
}

TEST_F(ProxyTest, APeerThatDoesNotReadHoldsUpAsMuchAsTheBuffersHold) {
  const auto [handle, peer] = Connect();
  EXPECT_GT(FillUp(handle), 0);
  const int64_t begin_ns = NowNs();
  EXPECT_EQ(gsend(net(), handle, "x", 1, 100 * kMillisecond), -ETIMEDOUT);
  EXPECT_EQ(gsend(net(), handle, "x", 1, 0), -EAGAIN);
  EXPECT_EQ(gclose(net(), handle, 100 * kMillisecond), -ETIMEDOUT);
  EXPECT_LT(NowNs() - begin_ns, 5 * kSecond);
  EXPECT_TRUE(IsReset(peer));
}

TEST_F(ProxyTest, AfterACloseThatDoesNotWaitTheRestIsSentOrReset) {
  {
    const auto [handle, peer] = Connect();
    const std::string sent = RandomBytes(4096, 2);
    EXPECT_EQ(gsend(net(), handle, sent.data(), sent.size(), kSecond), 4096);
    EXPECT_EQ(gclose(net(), handle, 0), 0);
    EXPECT_TRUE(PlainReceive(peer, 5000) == sent);
  }
  Serve({.sockets = 2, .ring_bytes = 4096}, /*linger_ns=*/200 * kMillisecond);
  const auto [handle, peer] = Connect();
  EXPECT_GT(FillUp(handle), 0);
  EXPECT_EQ(gclose(net(), handle, 0), 0);
  EXPECT_TRUE(Soon([&] { return proxy_->counts().connections == 0; }));
  EXPECT_TRUE(IsReset(peer));
}

TEST_F(ProxyTest, AfterAShutdownThePeerSeesTheEndAndMayStillSend) {
  const auto [handle, peer] = Connect();
  EXPECT_EQ(gsend(net(), handle, "question", 8, kSecond), 8);
  EXPECT_EQ(gshutdown(net(), handle, kSecond), 0);
  EXPECT_EQ(gsend(net(), handle, "x", 1, kSecond), -EPIPE);
  EXPECT_EQ(PlainReceive(peer, 100), "question");
  EXPECT_TRUE(PlainSend(peer, "answer"));
  char got[6];
  EXPECT_EQ(grecv_whole(net(), handle, got, 6, kSecond), 6);
  EXPECT_EQ(std::string(got, 6), "answer");
}

TEST_F(ProxyTest, AHandleOfAClosedSocketIsNoneOfTheNext) {
  Serve({.sockets = 1, .ring_bytes = 64});
  const auto [first, first_peer] = Connect();
  EXPECT_EQ(gconnect(net(), kHere, port_, kSecond), -EMFILE);
  EXPECT_EQ(gclose(net(), first, kSecond), 0);
  const auto [second, second_peer] = Connect();
  EXPECT_EQ(SocketOf(second), 0u);
  EXPECT_NE(first, second);
  char byte;
  EXPECT_EQ(grecv(net(), first, &byte, 1, kSecond), -EBADF);
  EXPECT_EQ(gclose(net(), first, kSecond), -EBADF);
  EXPECT_EQ(grecv(net(), second, &byte, 1, 0), -EAGAIN);
}

TEST_F(ProxyTest, AClosedListenerLetsGoOfWhoWaits) {
  const int64_t listener = glisten(net(), kHere, 0, kSecond);
  ASSERT_GE(listener, 0);
  int64_t accepted = 0;
  std::thread waits([&] { accepted = gaccept(net(), listener, 20 * kSecond); });
  EXPECT_TRUE(Soon([&] { return LoadAcquire(&net().proxy[1].taken) == 1; }));
  EXPECT_EQ(gclose(net(), listener, kSecond), 0);
  waits.join();
  EXPECT_EQ(accepted, -ECANCELED);
  EXPECT_EQ(glisten(net(), kHere, port_, kSecond), -EADDRINUSE);
}

TEST_F(ProxyTest, AConnectionCanBeGivenUpWhileItIsMade) {
  const int64_t handle = gconnect(net(), kHere, port_, 20 * kSecond, Connecting::kDoNotWait);
  ASSERT_GE(handle, 0);
  EXPECT_EQ(gclose(net(), handle, kSecond), 0);
  EXPECT_TRUE(Soon([&] { return proxy_->counts().connections == 0; }));
}

TEST_F(ProxyTest, ThePollOfAListenerSaysWhenSomebodyHasCome) {
  const int64_t listener = glisten(net(), kHere, 0, kSecond);
  PollItem item{listener, kReadable, 0};
  EXPECT_EQ(gpoll(net(), &item, 1, 30 * kMillisecond), 0);
  const Fd client = PlainConnect(static_cast<uint32_t>(gport(net(), listener)));
  EXPECT_EQ(gpoll(net(), &item, 1, 5 * kSecond), 1);
  EXPECT_EQ(item.ready, kReadable);
  EXPECT_GE(gaccept(net(), listener, 0), 0);
  EXPECT_EQ(gaccept(net(), listener, 0), -EAGAIN);
  PollItem unknown{999, kReadable, 0};
  EXPECT_EQ(gpoll(net(), &unknown, 1, kSecond), 1);
  EXPECT_EQ(unknown.ready, kFailed);
}

TEST_F(ProxyTest, ATableIsServedOnce) {
  EXPECT_EQ(Proxy::Create(*table_, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  proxy_ = nullptr;
  EXPECT_EQ(Proxy::Create(*table_, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(gconnect(net(), kHere, port_, kSecond), -ENETDOWN);
  const auto fresh = SocketTable::Create(*device_, {});
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ(glisten((*fresh)->net(), kHere, 0, kSecond), -ENETDOWN);
}

TEST_F(ProxyTest, AProxyWithNothingToDoSleeps) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::clock_t begin = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const double busy_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(busy_s, 0.1);
}

TEST(SocketTableTest, AShapeHasBounds) {
  const auto device = HostDevice();
  const auto refusal = [&](uint32_t sockets, uint64_t ring_bytes) {
    return SocketTable::Create(*device, {.sockets = sockets, .ring_bytes = ring_bytes}).status();
  };
  EXPECT_EQ(refusal(0, 4096).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(1025, 4096).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(1, 4095).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(1, 0).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(1024, 1 << 20).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refusal(1024, 1 << 20).message()), HasSubstr("use fewer sockets"));
  EXPECT_TRUE(refusal(1024, 4096).ok());
}

TEST(EndpointsTest, AnAddressHasItsPortsAndNoOthers) {
  const Endpoints range = *Endpoints::Parse("10.0.0.1:9000-9099");
  EXPECT_TRUE(range.Has(0x0a000001, 9000));
  EXPECT_TRUE(range.Has(0x0a000001, 9099));
  EXPECT_FALSE(range.Has(0x0a000001, 9100));
  EXPECT_FALSE(range.Has(0x0a000001, 0));
  EXPECT_FALSE(range.Has(0x0a000002, 9000));
  EXPECT_TRUE(Endpoints::Parse("0.0.0.0:80")->Has(0, 80));
  EXPECT_TRUE(Endpoints::Parse("10.0.0.1:*")->Has(0x0a000001, 0));
  EXPECT_FALSE(Endpoints::Parse("10.0.0.1:*")->Has(0x0a000001, 65536));
  EXPECT_EQ(EndpointText(0x0a000001, 9000), "10.0.0.1:9000");
}

TEST(EndpointsTest, WhatIsNoneIsRefused) {
  for (const char* text : {"", ":", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536",
                           "10.0.0.1:9-8", "10.0.0.1:1-", "10.0.0.1:-1", "10.0.0.1:1-2-3",
                           "10.0.0:1", "localhost:1", "10.0.0.1:+1", "10.0.0.1: 1", "*:1"}) {
    EXPECT_EQ(Endpoints::Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets
