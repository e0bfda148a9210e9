// Names of several nodes, asked of a real name server (dnsmasq) and of this machine's resolver.
#include "services/base/addresses/resolve.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "services/base/addresses/service_records.h"
#include "services/base/errors.h"

namespace tapedeck::services::naming {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kServer[] = "/usr/sbin/dnsmasq";

// A UDP socket at a free port of 127.0.0.1: while it lives, a name server that says nothing.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof(address_);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address_), bytes), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &bytes), 0);
  }
  ~SilentServer() { close(socket_); }
  const sockaddr_in& address() const { return address_; }

 private:
  const int socket_;
  sockaddr_in address_{};
};

// dnsmasq with some records.
class NameServer {
 public:
  explicit NameServer(const std::vector<std::string>& records) {
    // Another program may take the port before it does.
    for (int ports = 0; ports < 5 && !Begin(records); ++ports) End();
    EXPECT_TRUE(Answers());
  }
  ~NameServer() { End(); }

  Lookup lookup() const { return {.server = address_}; }

 private:
  // False: it does not answer.
  bool Begin(const std::vector<std::string>& records) {
    address_ = SilentServer().address();
    std::vector<std::string> words = {"dnsmasq",
                                      "--keep-in-foreground",
                                      "--log-facility=/dev/null",
                                      "--conf-file=/dev/null",
                                      "--no-resolv",
                                      "--no-hosts",
                                      "--pid-file=",
                                      "--user=",
                                      "--local=/test/",
                                      "--listen-address=127.0.0.1",
                                      "--bind-interfaces",
                                      absl::StrCat("--port=", ntohs(address_.sin_port))};
    words.insert(words.end(), records.begin(), records.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&child_, kServer, nullptr, nullptr, argv.data(), environ), 0);
    // It answers as soon as it takes connections.
    for (int tries = 0; tries < 200 && !Answers(); ++tries) {
      if (waitpid(child_, nullptr, WNOHANG) == child_) {
        child_ = 0;
        return false;
      }
      absl::SleepFor(absl::Milliseconds(20));
    }
    return Answers();
  }
  void End() {
    if (child_ == 0) return;
    kill(child_, SIGTERM);
    waitpid(std::exchange(child_, 0), nullptr, 0);
  }

  bool Answers() const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool answers =
        connect(fd, reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)) == 0;
    close(fd);
    return answers;
  }

  sockaddr_in address_{};
  pid_t child_ = 0;
};

std::string Record(const std::string& service, const std::string& host, int port,
                   int priority = 0) {
  return absl::StrCat("--srv-host=_", service, "._tcp.lab.test,", host, ",", port, ",", priority);
}

TEST(ResolveTest, AServiceIsItsRecords) {
  if (access(kServer, X_OK) != 0) GTEST_SKIP() << "dnsmasq-base is not installed";
  std::vector<std::string> records = {
      Record("deck", "b.lab.test", 7401),    Record("deck", "a.lab.test", 7402),
      Record("deck", "c.lab.test", 7400, 5), Record("deck", "a.lab.test", 7400),
      "--srv-host=_none._tcp.lab.test",      "--host-record=plain.lab.test,10.0.0.1",
      Record("portless", "a.lab.test", 0)};
  for (int i = 0; i < 16; ++i) records.push_back(Record("full", absl::StrCat("n", i, ".test"), 1));
  // More than a datagram of 512 bytes holds: asked for again over TCP.
  for (int i = 0; i < 60; ++i) {
    records.push_back(Record("many", absl::StrCat(std::string(50, 'n'), i, ".test"), 1));
  }
  const NameServer server(records);
  const auto nodes = NodesOf("srv:_deck._tcp.lab.test", server.lookup());
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_THAT(*nodes, ElementsAre("a.lab.test:7400", "a.lab.test:7402", "b.lab.test:7401",
                                  "c.lab.test:7400"));
  EXPECT_EQ(NodesOf("srv:///_full._tcp.lab.test", server.lookup())->size(), 16u);
  const auto error_of = [&](const std::string& list) {
    const absl::Status status = NodesOf(list, server.lookup()).status();
    return absl::StrCat(ReasonOf(status)->reason, " ", status.message());
  };
  EXPECT_THAT(error_of("srv:_many._tcp.lab.test"), HasSubstr("ARGUMENT_INVALID"));
  EXPECT_THAT(error_of("srv:_many._tcp.lab.test"), HasSubstr("60 nodes; at most 16 are allowed"));
  EXPECT_THAT(error_of("srv:_none._tcp.lab.test"), HasSubstr("NODE_UNREACHABLE"));
  EXPECT_THAT(error_of("srv:_none._tcp.lab.test"), HasSubstr("no nodes"));
  EXPECT_THAT(error_of("srv:_gone._tcp.lab.test"), HasSubstr("no such name"));
  EXPECT_THAT(error_of("srv:_portless._tcp.lab.test"), HasSubstr("port"));
  EXPECT_THAT(error_of("srv:plain.lab.test"), HasSubstr("ARGUMENT_INVALID"));
}

TEST(ResolveTest, AServerThatSaysNothingIsLeft) {
  const SilentServer server;
  const absl::Time begin = dataplane::SteadyTime();
  const absl::Status status =
      NodesOf("srv:_deck._tcp.lab.test",
              {.timeout = absl::Milliseconds(300), .server = server.address()})
          .status();
  EXPECT_LT(dataplane::SteadyTime() - begin, absl::Seconds(2));
  EXPECT_EQ(ReasonOf(status)->reason, "NODE_UNREACHABLE");
  EXPECT_THAT(std::string(status.message()), HasSubstr("within 300ms"));
}

TEST(ResolveTest, AHostIsItsAddresses) {
  EXPECT_THAT(*NodesOf("dns:///127.0.0.1:7400"), ElementsAre("127.0.0.1:7400"));
  EXPECT_THAT(*NodesOf("dns:[::1]:7400"), ElementsAre("[::1]:7400"));
  EXPECT_THAT(*NodesOf("dns:///localhost:7400"), ElementsAre("localhost:7400"));
  EXPECT_EQ(ReasonOf(NodesOf("dns:///a b:1").status())->reason, "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonOf(NodesOf("dns://8.8.8.8/a:1").status())->reason, "ARGUMENT_INVALID");
  const absl::Status gone = NodesOf("dns:///no-such-host.invalid:7400").status();
  EXPECT_EQ(ReasonOf(gone)->reason, "NODE_UNREACHABLE");
  EXPECT_EQ(ReasonOf(gone)->metadata.at("node"), "dns:///no-such-host.invalid:7400");
}

// An answer with two records, as a server would send it: the second one's name leads back into the
// question.
std::vector<uint8_t> Message() {
  std::vector<uint8_t> out = {0, 1, 0x84, 0, 0, 1, 0, 2, 0, 0, 0, 0};
  const auto add = [&out](std::initializer_list<int> bytes) {
    for (const int byte : bytes) out.push_back(static_cast<uint8_t>(byte));
  };
  add({2, '_', 'd', 4, '_', 't', 'c', 'p', 3, 'l', 'a', 'b', 0, 0, 33, 0, 1});
  add({0xc0, 12, 0, 33,   0,    1, 0,   0, 0,   9,   0,   13, 0,
       7,    0,  0, 0x1c, 0xe8, 1, 'a', 3, 'l', 'a', 'b', 0});
  add({0xc0, 12, 0, 33, 0, 1, 0, 0, 0, 9, 0, 10, 0, 8, 0, 0, 0x1c, 0xe9, 1, 'b', 0xc0, 20});
  return out;
}

TEST(ServiceRecordsTest, AMessageIsRead) {
  const std::vector<uint8_t> message = Message();
  const auto records = ParseServiceRecords(message);
  ASSERT_TRUE(records.ok()) << records.status();
  ASSERT_EQ(records->size(), 2u);
  EXPECT_EQ((*records)[0].host, "a.lab");
  EXPECT_EQ((*records)[0].port, 7400);
  EXPECT_EQ((*records)[1].host, "b.lab");
  EXPECT_EQ((*records)[1].port, 7401);
  EXPECT_EQ((*records)[1].priority, 8);
}

TEST(ServiceRecordsTest, ACutMessageIsRefused) {
  const std::vector<uint8_t> message = Message();
  for (size_t bytes = 0; bytes < message.size(); ++bytes) {
    // A copy of its own, behind which nothing may be read.
    const std::vector<uint8_t> cut(message.begin(), message.begin() + static_cast<long>(bytes));
    EXPECT_TRUE(absl::IsInvalidArgument(ParseServiceRecords(cut).status())) << bytes;
  }
}

TEST(ServiceRecordsTest, AnyByteMayBeWrong) {
  const std::vector<uint8_t> message = Message();
  for (size_t at = 0; at < message.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::vector<uint8_t> changed = message;
      changed[at] = static_cast<uint8_t>(value);
      const auto records = ParseServiceRecords(changed);
      if (!records.ok()) {
        EXPECT_TRUE(absl::IsInvalidArgument(records.status()));
        continue;
      }
      EXPECT_LE(records->size(), 2u);
      for (const ServiceRecord& record : *records) {
        EXPECT_EQ(record.host.find_first_of("/:@,% \\"), std::string::npos) << record.host;
      }
    }
  }
}

TEST(ServiceRecordsTest, ARecordWithoutANameAndManyAreRefused) {
  std::vector<uint8_t> message = Message();
  message[39] = 6;  // bytes of the first record's data
  EXPECT_TRUE(absl::IsInvalidArgument(ParseServiceRecords(message).status()));
  message = Message();
  const std::vector<uint8_t> second(message.end() - 22, message.end());
  for (size_t i = 2; i <= kMaxServiceRecords; ++i) {
    message.insert(message.end(), second.begin(), second.end());
  }
  message[6] = (kMaxServiceRecords + 1) >> 8;
  message[7] = (kMaxServiceRecords + 1) & 0xff;
  EXPECT_THAT(std::string(ParseServiceRecords(message).status().message()),
              HasSubstr("257 records; at most 256 are read"));
}

}  // namespace
}  // namespace tapedeck::services::naming
