// What systemd is told, over a socket of the test's own.
#include "services/daemon/supervisor/supervisor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "dataplane/now.h"
#include "services/base/errors.h"

namespace tapedeck::services::supervisor {
namespace {

using dataplane::EventLoop;

constexpr absl::Duration kWatchdog = absl::Milliseconds(300);

// As systemd listens, under an abstract name that is this test's alone.
class Systemd {
 public:
  Systemd()
      : name_(absl::StrCat("@tapedeck-test-", getpid(), "-",
                           absl::ToUnixNanos(dataplane::WallTime()))),
        fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un at{.sun_family = AF_UNIX};
    std::copy(name_.begin() + 1, name_.end(), at.sun_path + 1);
    bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&at),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size())) == 0;
  }
  ~Systemd() { close(fd_); }

  bool bound() const { return bound_; }
  Settings settings(absl::Duration watchdog) const {
    return {.socket = name_, .watchdog = watchdog};
  }

  // The next message, or "" where none comes within `limit`.
  std::string Next(absl::Duration limit = absl::Seconds(10)) {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(absl::ToInt64Milliseconds(limit))) != 1) return "";
    std::array<char, 256> text{};
    const ssize_t bytes = recv(fd_, text.data(), text.size(), 0);
    return bytes < 0 ? "" : std::string(text.data(), static_cast<size_t>(bytes));
  }

  // Reads messages until none has come for a watchdog's time, as when systemd kills a service;
  // false where they go on for ten seconds.
  bool FallsSilent() {
    const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(10);
    while (dataplane::SteadyTime() < deadline) {
      if (Next(kWatchdog).empty()) return true;
    }
    return false;
  }

 private:
  const std::string name_;
  const int fd_;
  bool bound_ = false;
};

class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(systemd_.bound()); }

  std::unique_ptr<Supervisor> Supervise(absl::Duration watchdog) {
    return Supervisor::Create(systemd_.settings(watchdog), {{first_.get()}, {second_.get()}})
        .value();
  }

  Systemd systemd_;
  const std::unique_ptr<EventLoop> first_ = EventLoop::Create("first").value();
  const std::unique_ptr<EventLoop> second_ = EventLoop::Create("second").value();
};

TEST_F(SupervisorTest, SaysWhenTheNodeIsReadyAndWhenItStops) {
  const auto supervisor = Supervise(absl::ZeroDuration());
  supervisor->Ready();
  EXPECT_EQ(systemd_.Next(), "READY=1");
  supervisor->Stopping(absl::Seconds(9));
  EXPECT_EQ(systemd_.Next(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000");
}

TEST_F(SupervisorTest, GivesSignsOfLifeFromThenOn) {
  const auto supervisor = Supervise(kWatchdog);
  EXPECT_EQ(systemd_.Next(kWatchdog), "") << "before it is ready";
  supervisor->Ready();
  EXPECT_EQ(systemd_.Next(), "READY=1");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(systemd_.Next(), "WATCHDOG=1");
}

TEST_F(SupervisorTest, IsSilentWhileOneExecutorStandsStill) {
  const auto supervisor = Supervise(kWatchdog);
  supervisor->Ready();
  EXPECT_EQ(systemd_.Next(), "READY=1");
  EXPECT_EQ(systemd_.Next(), "WATCHDOG=1");
  absl::Notification go;
  second_->Post([&] { go.WaitForNotification(); });
  EXPECT_TRUE(systemd_.FallsSilent());
  go.Notify();
  EXPECT_EQ(systemd_.Next(), "WATCHDOG=1") << "it moves again";
}

TEST_F(SupervisorTest, EndsWhileAnExecutorStandsStill) {
  auto supervisor = Supervise(kWatchdog);
  supervisor->Ready();
  absl::Notification go;
  first_->Post([&] { go.WaitForNotification(); });
  EXPECT_TRUE(systemd_.FallsSilent());
  supervisor = nullptr;
  go.Notify();
  first_->RunAndWait([] {});  // the question that was left is answered to nobody
}

TEST_F(SupervisorTest, GoesOnWhereNobodyListens) {
  const auto supervisor =
      Supervisor::Create({.socket = "/nonexistent/notify"}, {{first_.get()}}).value();
  supervisor->Ready();
  supervisor->Stopping(absl::Seconds(9));
}

absl::StatusOr<Settings> ReadFrom(std::map<std::string, std::string> variables) {
  return ReadSettings([&](const char* name) { return variables[name]; });
}

TEST(SupervisorSettingsTest, AreThoseOfTheEnvironment) {
  const auto none = ReadFrom({});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->socket, "");
  EXPECT_EQ(none->watchdog, absl::ZeroDuration());
  const std::string pid = absl::StrCat(getpid());
  const auto all =
      ReadFrom({{"NOTIFY_SOCKET", "/run/x"}, {"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", pid}});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->socket, "/run/x");
  EXPECT_EQ(all->watchdog, absl::Seconds(30));
  const auto others = ReadFrom({{"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", "1"}});
  ASSERT_TRUE(others.ok());
  EXPECT_EQ(others->watchdog, absl::ZeroDuration()) << "it is another process's";
}

TEST(SupervisorSettingsTest, AreChecked) {
  const std::map<std::string, std::string> wrong[] = {
      {{"NOTIFY_SOCKET", "run/x"}},
      {{"NOTIFY_SOCKET", "vsock:2:1234"}},
      {{"NOTIFY_SOCKET", "/" + std::string(108, 'x')}},
      {{"WATCHDOG_USEC", "soon"}},
      {{"WATCHDOG_USEC", "0"}},
      {{"WATCHDOG_USEC", "99999999999999"}},
  };
  for (const auto& variables : wrong) {
    const auto refused = ReadFrom(variables);
    const auto& [name, value] = *variables.begin();
    ASSERT_FALSE(refused.ok()) << name << "=" << value;
    EXPECT_EQ(ReasonOf(refused.status()).value_or(ErrorReason()).reason, "ARGUMENT_INVALID");
    EXPECT_NE(refused.status().message().find(name), absl::string_view::npos);
  }
}

}  // namespace
}  // namespace tapedeck::services::supervisor
