// A call waits for a node that is slow, and not for one that is gone: that takes connections and
// says nothing, or is stopped in mid-call.
#include "services/rpc/client/calls/pulse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "services/rpc/client/jobs_client.h"
#include "services/rpc/client/recorder_client.h"
#include "services/rpc/client/view_client.h"
#include "tests/services/loopback_node.h"

namespace tapedeck::services::client {
namespace {

constexpr absl::Duration kTotal = absl::Minutes(2);
constexpr absl::Duration kSilence = absl::Seconds(3);

// The fake's answer to it waits for LetGo.
const RecordSpec kSlow{.transfer = {.storage = "s:1", .target = "luns/l0/channels/mute"},
                       .source = {"synth"},
                       .blocks = 1};

TEST(PulseTest, ASlowAnswerIsWaitedFor) {
  LoopbackNode node;
  JobsClient jobs(node.channel, CallTime(kTotal, kSilence));
  absl::Status status = absl::UnknownError("none yet");
  std::thread caller([&] { status = jobs.StartRecord(kSlow).status(); });
  absl::SleepFor(2 * kSilence);
  node.jobs.LetGo();
  caller.join();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(PulseTest, TheWholeTimeIsBoundedAllTheSame) {
  LoopbackNode node;
  JobsClient jobs(node.channel, CallTime(2 * kSilence, kSilence));
  const absl::Time begun = dataplane::SteadyTime();
  const absl::Status status = jobs.StartRecord(kSlow).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_GE(dataplane::SteadyTime() - begun, 2 * kSilence - absl::Milliseconds(100));
  node.jobs.LetGo();
}

// Takes connections and says nothing.
class MuteListener {
 public:
  MuteListener() {
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    socklen_t length = sizeof(address);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    channel_ = MakeChannel(absl::StrCat("127.0.0.1:", ntohs(address.sin_port)));
  }
  ~MuteListener() { close(socket_); }
  MuteListener(const MuteListener&) = delete;
  MuteListener& operator=(const MuteListener&) = delete;

  const Channel& channel() const { return channel_; }

 private:
  const int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  Channel channel_;
};

TEST(PulseTest, WhoeverTakesConnectionsAndSaysNothingIsNotWaitedFor) {
  const MuteListener node;
  const absl::Status status =
      JobsClient(node.channel(), CallTime(kTotal, kSilence)).ListJobs().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("no sign of life for 3s"));
}

TEST(CancelledCallsTest, UnderWayAndToCome) {
  const MuteListener node;
  RecorderClient recorder(node.channel(), kTotal);
  ViewClient view(node.channel(), kTotal);
  std::atomic<int> cancelled = 0;
  const auto count = [&](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
    ++cancelled;
  };
  std::thread keeping(
      [&] { count(recorder.KeepRecording("luns/l/channels/c/recordings/r", true)); });
  std::thread viewing([&] { count(view.GetTimeline("luns/l/channels/c/recordings/r").status()); });
  absl::SleepFor(absl::Milliseconds(200));
  EXPECT_EQ(cancelled, 0);
  recorder.Cancel();
  view.Cancel();
  keeping.join();
  viewing.join();
  count(recorder.KeepRecording("luns/l/channels/c/recordings/r", true));
}

constexpr char kAddressFile[] = "TAPEDECK_TEST_ADDRESS_FILE";

// The node that the next test stops, in a process of its own.
TEST(PulseTest, StoppedNode) {
  const char* const file = getenv(kAddressFile);
  if (file == nullptr) GTEST_SKIP() << "is run by ANodeThatIsStoppedInMidCallIsNotWaitedFor";
  LoopbackNode node;
  std::ofstream(absl::StrCat(file, ".new")) << node.address;
  std::filesystem::rename(absl::StrCat(file, ".new"), file);
  absl::SleepFor(absl::Minutes(5));
}

TEST(PulseTest, ANodeThatIsStoppedInMidCallIsNotWaitedFor) {
  const std::string file = absl::StrCat(testing::TempDir(), "/pulse_test.", getpid());
  const pid_t child = fork();
  if (child == 0) {
    setenv(kAddressFile, file.c_str(), 1);
    execl("/proc/self/exe", "node", "--gtest_filter=PulseTest.StoppedNode", nullptr);
    _exit(1);
  }
  while (!std::filesystem::exists(file)) absl::SleepFor(absl::Milliseconds(20));
  std::string address;
  std::ifstream(file) >> address;
  JobsClient jobs(MakeChannel(address), CallTime(kTotal, kSilence));
  ASSERT_TRUE(jobs.ListJobs().ok());
  absl::Status status;
  std::thread caller([&] { status = jobs.StartRecord(kSlow).status(); });
  absl::SleepFor(2 * kSilence);  // it lives, and is waited for
  kill(child, SIGSTOP);
  caller.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("it is connected"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::filesystem::remove(file);
}

// Looks go on from the moment it is made until it is stopped; none follows its end.
TEST(PulseTest, LooksEndWithIt) {
  LoopbackNode node;
  std::atomic<int> looks = 0, signs = 0;
  {
    const Pulse pulse(node.channel.channel, [&](bool alive) {
      ++looks;
      signs += alive ? 1 : 0;
      return true;
    });
    for (int i = 0; i < 1000 && signs == 0; ++i) absl::SleepFor(absl::Milliseconds(20));
    EXPECT_GT(signs, 0);
  }
  const int so_far = looks;
  absl::SleepFor(2 * Pulse::kEach);
  EXPECT_EQ(looks, so_far);
}

TEST(PulseTest, LooksEndWhereOneSaysSo) {
  LoopbackNode node;
  std::atomic<int> looks = 0;
  const Pulse pulse(node.channel.channel, [&](bool) { return ++looks < 2; });
  absl::SleepFor(5 * Pulse::kEach);
  EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace tapedeck::services::client
