// tapectl and signals, where nobody answers.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "tests/services/tapectl/process.h"

namespace tapedeck::services::tapectl {
namespace {

// An address that takes connections and says nothing.
class MuteAddress {
 public:
  MuteAddress() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(fd_, 16), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    text_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  }
  ~MuteAddress() { close(fd_); }
  const std::string& text() const { return text_; }

  // Until somebody has connected: a call is under way.
  void AwaitCaller() const {
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&waiting, 1, 20'000), 1) << "nobody called";
  }

 private:
  const int fd_;
  std::string text_;
};

TEST(InterruptTest, EveryCallEndsAtOnce) {
  const std::vector<std::vector<std::string>> calls = {
      {"record", "l0/c0", "--source", "synth", "--blocks", "1"},
      {"play", "luns/l0/channels/c0/recordings/r", "--sink", "null"},
      {"play", "l0/c0/latest", "--sink", "null"},
      {"jobs", "list"},
      {"jobs", "cancel", "j1"},
      {"lun", "list"},
      {"channel", "create", "l0/c0"},
      {"recordings", "verify", "luns/l0/channels/c0/recordings/r"},
      {"scrub", "start", "l0"},
      {"trigger", "l0/c0"},
      {"nodes"}};
  for (const int signal : {SIGINT, SIGTERM}) {
    for (std::vector<std::string> call : calls) {
      const MuteAddress mute;
      const std::string name = call[0];
      for (const char* option : {"--storage", "--worker"}) {
        call.push_back(option);
        call.push_back(mute.text());
      }
      call.insert(call.end(), {"--timeout", "120s"});
      absl::Time called;
      const auto once_called = [&] {
        mute.AwaitCaller();
        called = dataplane::SteadyTime();
      };
      EXPECT_EQ(RunTapectl(call, once_called, signal).exit_code, -signal) << name;
      EXPECT_LT(dataplane::SteadyTime() - called, absl::Seconds(60)) << name;
    }
  }
}

// An exporter of traces has threads of its own, before there is a command.
TEST(InterruptTest, TheUserIsToldWhatGoesOn) {
  const std::string recording = "luns/l0/channels/c0/recordings/r";
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls = {
      {{"scrub", "start", "l0"}, "keeps running: tapectl scrub show"},
      {{"recordings", "copy", recording, "--to", "l0/c1"},
       "run the same command again to continue the copy"},
      {{"recordings", "move", recording, "--to", "l0/c1"},
       "run the same command again to continue the move"}};
  const MuteAddress collector;
  for (const bool traced : {false, true}) {
    if (traced) setenv("OTEL_EXPORTER_OTLP_ENDPOINT", ("http://" + collector.text()).c_str(), 1);
    for (const auto& [call, words] : calls) {
      const MuteAddress mute;
      std::vector<std::string> line = call;
      line.insert(line.end(), {"--storage", mute.text()});
      const Outcome outcome = RunTapectl(
          line, [&] { mute.AwaitCaller(); }, SIGINT);
      EXPECT_EQ(outcome.exit_code, -SIGINT) << words;
      EXPECT_THAT(outcome.err, testing::HasSubstr(words)) << (traced ? "traced" : "");
    }
  }
  unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
}

}  // namespace
}  // namespace tapedeck::services::tapectl
