// Groups of multicast on the loopback interface: who joins one gets its datagrams, and no others.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"
#include "gpu_worker/stages/ingest/packet_source.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::ingest::udp {
namespace {

constexpr char kGroup[] = "239.255.71.1";
constexpr char kOtherGroup[] = "239.255.71.2";

absl::StatusOr<OpenedPacketSource> Listen(const std::string& interface,
                                          const std::string& from = "",
                                          const std::string& group = kGroup) {
  return Open({.address = absl::StrCat(group, ":0"),
               .interface = interface,
               .from = from,
               .buffer_bytes = 1 << 20,
               .reader = nullptr});
}

// From an address of the loopback interface, and out by that.
void Send(const std::string& text, const char* group, int port, const char* from = "127.0.0.1") {
  dataplane::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{.sin_family = AF_INET};
  inet_pton(AF_INET, from, &own.sin_addr);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof(own)), 0);
  in_addr loopback{.s_addr = htonl(INADDR_LOOPBACK)};
  ASSERT_EQ(setsockopt(socket.get(), IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof(loopback)), 0);
  sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  inet_pton(AF_INET, group, &to.sin_addr);
  ASSERT_EQ(sendto(socket.get(), text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&to),
                   sizeof(to)),
            static_cast<ssize_t>(text.size()));
}

// What has come: loopback gives a datagram before sendto returns.
std::vector<std::string> Received(PacketSource& source) {
  std::vector<std::string> texts;
  const auto take = [&](std::span<const std::byte> packet) {
    texts.emplace_back(reinterpret_cast<const char*>(packet.data()), packet.size());
  };
  pollfd watched{.fd = source.fd(), .events = POLLIN};
  while (poll(&watched, 1, 0) > 0) EXPECT_TRUE(source.Read(take).ok());
  return texts;
}

TEST(IngestMulticastTest, TheGroupThatWasJoinedAlone) {
  auto one = Listen("lo");
  ASSERT_TRUE(one.ok()) << one.status();
  auto other = Listen("lo", "", kOtherGroup);
  ASSERT_TRUE(other.ok()) << other.status();
  Send("to one", kGroup, one->port);
  Send("to the other", kOtherGroup, other->port);
  Send("the port alone", kOtherGroup, one->port);
  EXPECT_EQ(Received(*one->packet_source), std::vector<std::string>{"to one"});
  EXPECT_EQ(Received(*other->packet_source), std::vector<std::string>{"to the other"});
}

TEST(IngestMulticastTest, TheSenderThatWasNamedAlone) {
  auto packet_source = Listen("lo", "127.0.0.8");
  ASSERT_TRUE(packet_source.ok()) << packet_source.status();
  Send("a stranger's", kGroup, packet_source->port, "127.0.0.9");
  Send("the device's", kGroup, packet_source->port, "127.0.0.8");
  EXPECT_EQ(Received(*packet_source->packet_source), std::vector<std::string>{"the device's"});
}

TEST(IngestMulticastTest, WhatCannotBeJoinedIsNamed) {
  const auto is_invalid = [](const absl::StatusOr<OpenedPacketSource>& packet_source,
                             const std::string& what) {
    EXPECT_TRUE(absl::IsInvalidArgument(packet_source.status())) << packet_source.status();
    EXPECT_NE(packet_source.status().message().find(what), std::string::npos)
        << packet_source.status();
  };
  is_invalid(Listen("no-such-port"), "no interface is called no-such-port");
  is_invalid(Listen("lo", "somebody"), "somebody must be an address");
  is_invalid(Listen("lo", "::1"), "::1 must be an address of the group's family");
  is_invalid(Listen("lo", "", "127.0.0.1"), "requires a multicast address");
  is_invalid(Listen("", "127.0.0.8", "127.0.0.1"), "requires a multicast address");
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::ingest::udp
