// Rails whose connections the kernel encrypts: what passes over the network, and what becomes of a
// peer that is none. Where the kernel has no TLS, the refusals alone are tried here; the others run
// in the virtual machine of tests/lab.

#include "dataplane/transport/tcp/kernel_tls.h"

#include <gtest/gtest.h>
#include <linux/tls.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "dataplane/reason.h"
#include "tests/bytes.h"
#include "tests/conformance/transport_pair.h"
#include "tests/dataplane/transport/relay.h"

namespace tapedeck::dataplane::tcp {
namespace {

constexpr size_t kPayload = 64 << 10;
// Before the first record of a direction.
constexpr size_t kClearBytes = kHelloBytes;
// Of a record before its payload: kind, version, length, the explicit part of the nonce.
constexpr size_t kRecordHeaderBytes = 13;

std::string ReasonIn(const absl::Status& status) {
  return ReasonOf(status).value_or(ErrorReason{}).reason;
}

TEST(KernelTls, AKernelWithoutItIsNamedWithTheRemedy) {
  const absl::Status status = TryKernelTls("r7", "127.0.0.1");
  if (status.ok()) GTEST_SKIP() << "this kernel has it";
  EXPECT_EQ(ReasonIn(status), "RAIL_TLS_UNUSABLE");
  EXPECT_EQ(ReasonOf(status)->metadata.at("rail"), "r7");
  EXPECT_TRUE(absl::StrContains(status.message(), "modprobe tls")) << status;
  const auto poller = *EventLoop::Create("rail");
  const RailSpec spec{.name = "r7", .kind = "tcp", .address = "127.0.0.1", .tls = true};
  EXPECT_EQ(ReasonIn(CreateTransport(spec, {poller.get()}).status()), "RAIL_TLS_UNUSABLE");
}

TEST(KernelTls, RailsThatCannotEncryptAreRefused) {
  const auto poller = *EventLoop::Create("rail");
  for (const std::string kind : {"verbs", "inproc"}) {
    const RailSpec spec{.name = "r7", .kind = kind, .address = "10.0.0.1", .tls = true};
    const absl::Status status = CreateTransport(spec, {poller.get()}).status();
    EXPECT_EQ(ReasonIn(status), "RAIL_TLS_UNUSABLE");
    EXPECT_TRUE(absl::StrContains(status.message(), "VLAN")) << status;
  }
}

TEST(KernelTls, APeerThatEncryptsIsNoPeerOfARailInClear) {
  const std::vector<TransportKind> kinds = TransportKinds();
  const auto tcp = std::ranges::find(kinds, "tcp", &TransportKind::kind);
  for (const bool listen : {true, false}) {
    TransportEnd end(*tcp, listen, RemoteAccess::kNone);
    const absl::Status status =
        end.Connect(TcpEndpoint{.address = "127.0.0.1", .port = 9, .tls = true}).get();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(ReasonIn(status), "RAIL_TLS_MISMATCH");
    EXPECT_TRUE(absl::StrContains(status.message(), "the peer encrypts")) << status;
  }
}

TEST(KernelTls, WhatTheKernelRefusesHasAName) {
  for (const int error : {EBADMSG, EIO, EMSGSIZE, EINVAL}) {
    const absl::Status status = CallFailed("rail r7 to 127.0.0.1:9", "recvmsg", error);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(ReasonIn(status), "RAIL_TLS_BROKEN");
    EXPECT_TRUE(absl::StrContains(status.message(), "rail r7 to 127.0.0.1:9: recvmsg: "));
  }
  const absl::Status reset = CallFailed("rail r7", "recvmsg", ECONNRESET);
  EXPECT_EQ(reset.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonIn(reset), "");
}

// Two ends with a relay between them that sees, and may change, what the worker sends.
class KernelTlsRail : public testing::Test {
 protected:
  void SetUp() override {
    if (const absl::Status usable = tls_.usable(); !usable.ok()) {
      GTEST_SKIP() << usable.message();
    }
  }

  void MakeEnds(const TransportKind& kind) {
    worker_ = std::make_unique<TransportEnd>(kind, false, RemoteAccess::kNone);
    node_ = std::make_unique<TransportEnd>(kind, true, RemoteAccess::kNone);
    FillRandom(7, worker_->bytes(0, kPayload));
    FillRandom(7, node_->bytes(kPayload, kPayload));
  }

  TcpEndpoint node_endpoint() const { return std::get<TcpEndpoint>(node_->offer->endpoint()); }

  // `changed` counts from the first byte of the first record.
  void Connect(const TransportKind& kind, std::optional<size_t> changed = std::nullopt) {
    MakeEnds(kind);
    TcpEndpoint node = node_endpoint();
    if (changed.has_value()) *changed += kClearBytes;
    relay_ = std::make_unique<Relay>(node.port, changed);
    node.port = relay_->port();
    auto node_up = node_->Connect(worker_->offer->endpoint());
    auto worker_up = worker_->Connect(node);
    ASSERT_TRUE(worker_up.get().ok());
    ASSERT_TRUE(node_up.get().ok());
  }

  void SendBlock() {
    node_->Do([&](Connection& c) { c.PostReceive(node_->bytes(0, kPayload)); });
    worker_->Do([&](Connection& c) {
      c.Send({.type = FrameType::kBlock, .block = {.payload_bytes = kPayload}},
             worker_->bytes(0, kPayload), 1);
    });
  }

  // Somebody who has seen the worker's hello, and says it first.
  Fd Impostor() {
    MakeEnds(tls_);
    node_up_ = node_->Connect(worker_->offer->endpoint());
    Fd socket = DialLoopback(node_endpoint().port);
    HelloBytes hello = EncodeHello({.token = node_endpoint().token});
    EXPECT_EQ(send(socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL), ssize_t{kHelloBytes});
    EXPECT_EQ(recv(socket.get(), hello.data(), hello.size(), MSG_WAITALL), ssize_t{kHelloBytes});
    EXPECT_EQ(DecodeHello(hello)->verdict, Verdict::kWelcome);
    EXPECT_TRUE(node_up_.get().ok());
    return socket;
  }

  ConnectionKeys WorkersKeys() const {
    const TcpEndpoint node = node_endpoint();
    const auto worker = std::get<TcpEndpoint>(worker_->offer->endpoint());
    return *DeriveKeys({.secret = node.secret, .listener = node.token, .caller = worker.token},
                       Side::kCaller);
  }

  const TransportKind tls_ = KernelTlsKind();
  std::unique_ptr<TransportEnd> node_;
  std::unique_ptr<TransportEnd> worker_;
  std::unique_ptr<Relay> relay_;
  std::future<absl::Status> node_up_;
};

// Whether any of 64 pieces of the payload has passed as it is.
bool HasPassed(std::string_view passed, std::span<const std::byte> payload) {
  for (size_t at = 0; at + 16 <= payload.size(); at += kPayload / 64) {
    const std::string_view piece(reinterpret_cast<const char*>(payload.data()) + at, 16);
    if (passed.find(piece) != passed.npos) return true;
  }
  return false;
}

TEST_F(KernelTlsRail, NothingOfThePayloadPassesInClear) {
  Connect(tls_);
  SendBlock();
  const auto arrival = node_->events.Frame(0);
  EXPECT_TRUE(SameBytes(arrival.payload, worker_->bytes(0, kPayload)));
  const std::string passed = relay_->Passed();
  EXPECT_GT(passed.size(), kClearBytes + kPayload);
  EXPECT_FALSE(HasPassed(passed, worker_->bytes(0, kPayload)));
}

TEST(KernelTls, WithoutItThePayloadPassesInClear) {
  const std::vector<TransportKind> kinds = TransportKinds();
  const auto tcp = std::ranges::find(kinds, "tcp", &TransportKind::kind);
  TransportEnd node(*tcp, true, RemoteAccess::kNone);
  TransportEnd worker(*tcp, false, RemoteAccess::kNone);
  FillRandom(7, worker.bytes(0, kPayload));
  auto endpoint = std::get<TcpEndpoint>(node.offer->endpoint());
  Relay relay(endpoint.port, std::nullopt);
  endpoint.port = relay.port();
  auto node_up = node.Connect(worker.offer->endpoint());
  ASSERT_TRUE(worker.Connect(endpoint).get().ok());
  ASSERT_TRUE(node_up.get().ok());
  node.Do([&](Connection& c) { c.PostReceive(node.bytes(0, kPayload)); });
  worker.Do(
      [&](Connection& c) { c.Send({.type = FrameType::kBlock}, worker.bytes(0, kPayload), 1); });
  node.events.Frame(0);
  EXPECT_TRUE(HasPassed(relay.Passed(), worker.bytes(0, kPayload)));
}

TEST_F(KernelTlsRail, AChangedByteEndsTheConnectionByName) {
  for (const size_t at : {size_t{0}, size_t{1}, size_t{3}, size_t{6}, kRecordHeaderBytes,
                          kRecordHeaderBytes + 200, kPayload / 2}) {
    SCOPED_TRACE(at);
    Connect(tls_, at);
    SendBlock();
    const absl::Status cause = node_->events.Closed();
    EXPECT_EQ(ReasonIn(cause), "RAIL_TLS_BROKEN") << cause;
    EXPECT_EQ(node_->events.frame_count(), 0u) << "a block arrived all the same";
    EXPECT_FALSE(worker_->events.Closed().ok());
  }
}

TEST_F(KernelTlsRail, WhoHasTheTokenAndNotTheSecretSaysNothing) {
  const Fd socket = Impostor();
  std::array<std::byte, kPreambleBytes> operation{};
  const std::span preamble(operation);
  EncodeOpHeader({.kind = OpKind::kSend}, preamble.first<kOpHeaderBytes>());
  std::ranges::copy(EncodeFrame({.type = FrameType::kReceived}),
                    preamble.subspan<kOpHeaderBytes>().begin());
  EXPECT_GT(send(socket.get(), operation.data(), operation.size(), MSG_NOSIGNAL), 0);
  const absl::Status in_clear = node_->events.Closed();
  EXPECT_EQ(ReasonIn(in_clear), "RAIL_TLS_BROKEN") << in_clear;
  EXPECT_EQ(node_->events.frame_count(), 0u);

  const Fd another = Impostor();
  ConnectionKeys keys = WorkersKeys();
  keys.send.key[0] ^= 1;
  ASSERT_TRUE(Encrypt(another, keys).ok());
  EXPECT_GT(send(another.get(), operation.data(), operation.size(), MSG_NOSIGNAL), 0);
  const absl::Status other_key = node_->events.Closed();
  EXPECT_EQ(ReasonIn(other_key), "RAIL_TLS_BROKEN") << other_key;
  EXPECT_EQ(node_->events.frame_count(), 0u);
}

TEST_F(KernelTlsRail, AnAlertIsRefusedByName) {
  const Fd socket = Impostor();
  ASSERT_TRUE(Encrypt(socket, WorkersKeys()).ok());
  std::array<unsigned char, 2> alert = {2, 80};
  iovec piece{alert.data(), alert.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(1)> control{};
  msghdr message{.msg_iov = &piece,
                 .msg_iovlen = 1,
                 .msg_control = control.data(),
                 .msg_controllen = control.size()};
  cmsghdr* kind = CMSG_FIRSTHDR(&message);
  *kind = {.cmsg_len = CMSG_LEN(1), .cmsg_level = SOL_TLS, .cmsg_type = TLS_SET_RECORD_TYPE};
  *CMSG_DATA(kind) = 21;
  ASSERT_EQ(sendmsg(socket.get(), &message, MSG_NOSIGNAL), ssize_t{2}) << std::strerror(errno);
  const absl::Status cause = node_->events.Closed();
  EXPECT_EQ(ReasonIn(cause), "RAIL_TLS_BROKEN") << cause;
  EXPECT_TRUE(absl::StrContains(cause.message(), "TLS alert")) << cause;
}

// Half a record is nothing that can be read: whoever waits for the rest sleeps.
TEST_F(KernelTlsRail, HalfARecordKeepsNobodyBusy) {
  Connect(tls_);
  relay_->HoldAfter(relay_->passed_bytes() + 5000);
  SendBlock();
  relay_->AwaitHeld();
  const auto used = [this] {
    timespec time{};
    node_->loop->RunAndWait([&] { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); });
    return time.tv_sec * kSecondNs + time.tv_nsec;
  };
  const int64_t began = used();
  absl::SleepFor(absl::Seconds(1));
  EXPECT_LT(used() - began, kSecondNs / 5);
  relay_->GoOn();
  EXPECT_TRUE(SameBytes(node_->events.Frame(0).payload, worker_->bytes(0, kPayload)));
}

}  // namespace
}  // namespace tapedeck::dataplane::tcp
