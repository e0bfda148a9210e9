// Who is let in at a node's port, and that it goes on when the process had no descriptor left.
#include "services/rpc/server/acceptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/socket_address.h"
#include "services/base/addresses/listen_address.h"

namespace tapedeck::services::server {
namespace {

using dataplane::Fd;
using ::testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(10);

uint64_t Errors() {
  return dataplane::CountLogLines().lines[static_cast<size_t>(dataplane::LogLevel::kError)];
}

// A caller at 127.0.0.1.
class Caller {
 public:
  void Connect(int port) const {
    sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = absl::ToInt64Seconds(kPatience)};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    connected_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
  }
  bool connected() const { return connected_; }
  // Once the other side has.
  bool Closed() const {
    char byte = 0;
    return recv(socket_.get(), &byte, 1, 0) == 0 || errno == ECONNRESET;
  }
  std::string name() const {
    return absl::StrCat("127.0.0.1:", dataplane::LocalAddress(socket_).port());
  }

 private:
  const Fd socket_{socket(AF_INET, SOCK_STREAM, 0)};
  mutable bool connected_ = false;
};

// Keeps who comes.
class AcceptorTest : public testing::Test {
 protected:
  std::unique_ptr<Acceptor> Make(const std::string& listen, const AcceptorLimits& limits = {}) {
    return Acceptor::Create(
               ReservedPort::Create(listen).value(),
               [this](Fd socket, const std::string& peer) {
                 absl::MutexLock lock(&mutex_);
                 sockets_.push_back(std::move(socket));
                 peers_.push_back(peer);
                 return true;
               },
               limits)
        .value();
  }
  // The `number`th that came; empty if it did not.
  std::string Peer(size_t number) {
    absl::MutexLock lock(&mutex_);
    const auto came = [this, number] { return peers_.size() > number; };
    return dataplane::AwaitFor(mutex_, absl::Condition(&came), kPatience) ? peers_[number] : "";
  }

  absl::Mutex mutex_;
  std::vector<Fd> sockets_;
  std::vector<std::string> peers_;
};

TEST_F(AcceptorTest, SaysWhoComes) {
  for (const char* listen : {"127.0.0.1:0", "localhost:0", "0.0.0.0:0", "[::]:0"}) {
    peers_.clear();
    const auto acceptor = Make(listen);
    const Caller caller;
    caller.Connect(acceptor->port());
    EXPECT_EQ(Peer(0), caller.name()) << listen;
    EXPECT_EQ(acceptor->turned_away(), 0u);
  }
}

TEST_F(AcceptorTest, TurnsAwayWhoIsTooMuch) {
  const auto acceptor = Make("127.0.0.1:0", {.most_descriptors = 0});
  const Caller caller;
  caller.Connect(acceptor->port());
  EXPECT_TRUE(caller.connected());
  EXPECT_TRUE(caller.Closed());
  EXPECT_EQ(acceptor->turned_away(), 1u);
}

TEST_F(AcceptorTest, GoesOnWhenThereWasNoDescriptor) {
  const auto acceptor = Make("127.0.0.1:0");
  const Caller caller;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const uint64_t errors = Errors();
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  caller.Connect(acceptor->port());
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  while (Errors() == errors && dataplane::SteadyTime() < until)
    absl::SleepFor(absl::Milliseconds(1));
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_GT(Errors(), errors);
  EXPECT_EQ(Peer(0), caller.name());
}

TEST_F(AcceptorTest, StoppedNobodyGetsIn) {
  const auto acceptor = Make("127.0.0.1:0");
  acceptor->Stop();
  const Caller caller;
  caller.Connect(acceptor->port());
  EXPECT_FALSE(caller.connected());
}

TEST_F(AcceptorTest, AnAddressInUseIsNamed) {
  const auto first = Make("127.0.0.1:0");
  const std::string taken = absl::StrCat("127.0.0.1:", first->port());
  const auto second = ReservedPort::Create(taken);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(taken));
}

}  // namespace
}  // namespace tapedeck::services::server
