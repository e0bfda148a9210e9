// What a rail's listener does with those who are no peers of a session: nothing of theirs gets
// further.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <random>

#include "absl/time/clock.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/now.h"
#include "dataplane/transport/list.h"
#include "dataplane/transport/tcp/allowance.h"
#include "dataplane/transport/tcp/wire.h"

namespace tapedeck::dataplane::tcp {
namespace {

class NoEvents final : public ConnectionEvents {
 public:
  void OnFrame(const Frame&, std::span<std::byte>) override { ++frames; }
  void OnCompleted(uint64_t) override {}
  void OnClosed(const absl::Status& cause) override { closed.set_value(cause); }
  std::atomic<int> frames = 0;
  std::promise<absl::Status> closed;
};

class TcpStrangers : public testing::Test {
 protected:
  TcpStrangers() {
    loop_->RunAndWait([&] { offer_ = *domain_->NewOffer(0); });
    loop_->RunAndWait([&] {
      offer_->Connect(TcpEndpoint{.address = "127.0.0.1"}, loop_->clock().NowNs() + 5 * kSecondNs,
                      &events_, [&](absl::StatusOr<std::unique_ptr<Connection>> result) {
                        const absl::Status status = result.status();
                        if (status.ok()) connection_ = *std::move(result);
                        connected_.set_value(status);
                      });
    });
  }
  ~TcpStrangers() override {
    loop_->RunAndWait([&] {
      connection_.reset();
      offer_.reset();
    });
  }

  int Dial() const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(transport_->rail().port)};
    address.sin_addr.s_addr = inet_addr("127.0.0.1");
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval timeout{.tv_sec = 8};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    return fd;
  }

  // The listener's answer to `hello`; none if it closed without one.
  std::optional<Verdict> Greet(int fd, const Hello& hello) const {
    const HelloBytes bytes = EncodeHello(hello);
    EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t{kHelloBytes});
    HelloBytes answer;
    if (recv(fd, answer.data(), answer.size(), MSG_WAITALL) != ssize_t{kHelloBytes})
      return std::nullopt;
    return DecodeHello(answer)->verdict;
  }

  Token token() const { return std::get<TcpEndpoint>(offer_->endpoint()).token; }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create("rail");
  std::unique_ptr<Memory> memory_ = *host::Create(1 << 20);
  std::unique_ptr<Transport> transport_ = *CreateTransport(
      {.name = "r0", .kind = "tcp", .address = "127.0.0.1", .listen = true}, {loop_.get()});
  std::unique_ptr<Domain> domain_ =
      *transport_->OpenDomain(memory_->window(), RemoteAccess::kWrite);
  std::unique_ptr<Offer> offer_;
  NoEvents events_;
  std::promise<absl::Status> connected_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(TcpStrangers, WrongTokenIsRefusedAndTheSessionStillConnects) {
  Token wrong = token();
  wrong[0] ^= 1;
  const int stranger = Dial();
  EXPECT_EQ(Greet(stranger, {.token = wrong}), Verdict::kUnknownToken);
  char byte;
  EXPECT_EQ(recv(stranger, &byte, 1, 0), 0) << "the connection stays open";
  const int peer = Dial();
  EXPECT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  EXPECT_TRUE(connected_.get_future().get().ok());
  close(stranger);
  close(peer);
}

TEST_F(TcpStrangers, ATokenAdmitsOnce) {
  const int peer = Dial();
  EXPECT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  EXPECT_TRUE(connected_.get_future().get().ok());
  const int again = Dial();
  EXPECT_EQ(Greet(again, {.token = token()}), Verdict::kUnknownToken);
  close(peer);
  close(again);
}

TEST_F(TcpStrangers, OtherVersionIsToldOurs) {
  const int peer = Dial();
  EXPECT_EQ(Greet(peer, {.version = 9, .token = token()}), Verdict::kWrongVersion);
  close(peer);
}

TEST_F(TcpStrangers, GarbageIsDroppedWithoutAnAnswer) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const int fd = Dial();
    std::string noise(1 + random() % 4096, 0);
    for (char& c : noise) c = static_cast<char>(random());
    send(fd, noise.data(), noise.size(), MSG_NOSIGNAL);
    if (noise.size() >= kHelloBytes) {
      char byte;
      EXPECT_LE(recv(fd, &byte, 1, 0), 0);
    }
    close(fd);
  }
  const int peer = Dial();
  EXPECT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  EXPECT_TRUE(connected_.get_future().get().ok());
  close(peer);
}

TEST_F(TcpStrangers, SilenceIsDroppedAfterFiveSeconds) {
  const int fd = Dial();
  char byte;
  EXPECT_EQ(recv(fd, &byte, 1, 0), 0);
  close(fd);
}

TEST_F(TcpStrangers, AFloodOfSilenceDoesNotShutOutThePeer) {
  std::vector<int> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(Dial());
  const int peer = Dial();
  EXPECT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  EXPECT_TRUE(connected_.get_future().get().ok());
  for (const int fd : silent) close(fd);
  close(peer);
}

// The poller's processor time while strangers wait whom nobody can accept.
TEST_F(TcpStrangers, WithoutDescriptorsThePollerRests) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int stranger = socket(AF_INET, SOCK_STREAM, 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(transport_->rail().port)};
  address.sin_addr.s_addr = inet_addr("127.0.0.1");
  EXPECT_EQ(connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const auto used = [this] {
    timespec time{};
    loop_->RunAndWait([&] { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); });
    return time.tv_sec * kSecondNs + time.tv_nsec;
  };
  const int64_t began = used();
  absl::SleepFor(absl::Seconds(1));
  EXPECT_LT(used() - began, kSecondNs / 10);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  close(stranger);
  const int peer = Dial();
  EXPECT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  EXPECT_TRUE(connected_.get_future().get().ok());
  close(peer);
}

// A peer of the session that asks and does not read the answers.
TEST_F(TcpStrangers, APeerThatDoesNotReadLosesItsConnection) {
  const int peer = Dial();
  ASSERT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  ASSERT_TRUE(connected_.get_future().get().ok());
  for (int i = 0; i < 200; ++i) {
    loop_->RunAndWait([&] {
      for (int n = 0; n < 1000; ++n) connection_->Send({.type = FrameType::kReceived}, {}, 0);
    });
  }
  auto closed = events_.closed.get_future();
  ASSERT_EQ(closed.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  const absl::Status cause = closed.get();
  EXPECT_EQ(cause.code(), absl::StatusCode::kResourceExhausted) << cause;
  close(peer);
}

// It may have stopped before there is much to read, and ping all the same.
TEST_F(TcpStrangers, APeerThatHasStoppedReadingIsNoticed) {
  const int peer = Dial();
  ASSERT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  ASSERT_TRUE(connected_.get_future().get().ok());
  auto closed = events_.closed.get_future();
  const std::vector<std::byte> large(16 << 20);  // more than the kernel takes
  loop_->RunAndWait([&] { connection_->Send({}, large, 0); });
  const absl::Time begin = dataplane::SteadyTime();
  while (closed.wait_for(std::chrono::seconds(1)) != std::future_status::ready &&
         dataplane::SteadyTime() - begin < absl::Seconds(10)) {
    loop_->RunAndWait([&] { connection_->Send({}, {}, 0); });
  }
  ASSERT_EQ(closed.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(closed.get().code(), absl::StatusCode::kUnavailable);
  EXPECT_GT(dataplane::SteadyTime() - begin, absl::Seconds(4));
  close(peer);
}

// A flood of operations without payload waits on the side it comes from; all of it arrives. The
// limit is held against the time that has passed.
TEST_F(TcpStrangers, AFloodWithoutPayloadIsTakenSlowly) {
  constexpr int kFlood = 8000;
  const int peer = Dial();
  ASSERT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  ASSERT_TRUE(connected_.get_future().get().ok());
  const absl::Time began = dataplane::SteadyTime();
  std::array<std::byte, kPreambleBytes> operation{};
  const std::span preamble(operation);
  EncodeOpHeader({.kind = OpKind::kSend}, preamble.first<kOpHeaderBytes>());
  std::ranges::copy(EncodeFrame({.type = FrameType::kReceived}),
                    preamble.subspan<kOpHeaderBytes>().begin());
  for (int i = 0; i < kFlood; ++i) {
    ASSERT_EQ(send(peer, operation.data(), operation.size(), MSG_NOSIGNAL),
              ssize_t{kPreambleBytes});
  }
  while (events_.frames < kFlood && dataplane::SteadyTime() - began < absl::Seconds(20)) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(events_.frames, kFlood);
  const int64_t most =
      Allowance::kBurst + 256 +
      absl::ToInt64Milliseconds(dataplane::SteadyTime() - began + absl::Milliseconds(1)) *
          (Allowance::kPerSecond / 1000);
  EXPECT_LE(kFlood, most);
  close(peer);
}

// Even a peer with a token gets nowhere with bytes that are no operations.
TEST_F(TcpStrangers, GarbageAfterTheHelloEndsTheConnection) {
  const int peer = Dial();
  ASSERT_EQ(Greet(peer, {.token = token()}), Verdict::kWelcome);
  ASSERT_TRUE(connected_.get_future().get().ok());
  const std::string noise(kPreambleBytes, 'x');
  send(peer, noise.data(), noise.size(), MSG_NOSIGNAL);
  EXPECT_EQ(events_.closed.get_future().get().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(events_.frames, 0);
  close(peer);
}

}  // namespace
}  // namespace tapedeck::dataplane::tcp
