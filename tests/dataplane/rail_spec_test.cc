#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <future>

#include "dataplane/transport/list.h"
#include "dataplane/transport/rail_set.h"

namespace tapedeck::dataplane {
namespace {

TEST(RailSpec, ParsesAddressesAndPorts) {
  const RailSpec plain = *ParseRailSpec("r0=tcp:127.0.0.1");
  EXPECT_EQ(plain.name, "r0");
  EXPECT_EQ(plain.kind, "tcp");
  EXPECT_EQ(plain.address, "127.0.0.1");
  EXPECT_EQ(plain.port, 0);
  EXPECT_EQ(ParseRailSpec("r0=tcp:10.0.0.1:7401")->port, 7401);
  EXPECT_EQ(ParseRailSpec("r0=tcp:fe80::1")->address, "fe80::1");
  EXPECT_EQ(ParseRailSpec("r0=tcp:[::1]:99")->address, "::1");
  EXPECT_EQ(ParseRailSpec("r0=tcp:[::1]:99")->port, 99);
}

TEST(RailSpec, NamesAnInterfaceInThePlaceOfAnAddress) {
  EXPECT_EQ(ParseRailSpec("r0=tcp:%net1")->interface, "net1");
  EXPECT_EQ(ParseRailSpec("r0=tcp:%eth0.5:7411")->interface, "eth0.5");
  EXPECT_EQ(ParseRailSpec("r0=tcp:%eth0.5:7411")->port, 7411);
  EXPECT_EQ(ParseRailSpec("r0=tcp:10.0.0.1")->interface, "");
  EXPECT_EQ(ParseRailSpec("r0=tcp:fe80::1%net1")->interface, "");
}

TEST(RailSpec, ARailHasTheAddressOfItsInterface) {
  const auto rails = RailSet::Create({"r0=tcp:%lo"}, {.listen = true});
  ASSERT_TRUE(rails.ok()) << rails.status();
  EXPECT_EQ((*rails)->transports()[0]->rail().address, "127.0.0.1");
}

TEST(RailSpec, AnInterfaceThatIsNotThereIsNamedWithThoseThatAre) {
  const absl::Status status = RailSet::Create({"r1=tcp:%nowhere"}, {.listen = true}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  for (const char* named : {"r1", "nowhere", "lo"}) {
    EXPECT_NE(status.message().find(named), absl::string_view::npos) << status;
  }
}

TEST(RailSpec, RefusesWhatIsIncomplete) {
  for (const char* text : {"", "r0", "r0=", "r0=tcp", "r0=tcp:", "r0=tcp:%", "=tcp:127.0.0.1",
                           "r0=tcp:127.0.0.1:x", "r0=tcp:127.0.0.1:70000", "r0=tcp:[::1"}) {
    EXPECT_EQ(ParseRailSpec(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(RailSpec, RefusesWhatPeersWouldRefuse) {
  const std::string longest(63, 'r');
  EXPECT_TRUE(ParseRailSpec(longest + "=tcp:127.0.0.1").ok());
  for (const std::string& text :
       {longest + "r=tcp:127.0.0.1", std::string("r 0=tcp:127.0.0.1"),
        std::string("r\x1b[2J=tcp:127.0.0.1"), std::string("r/0=tcp:127.0.0.1"),
        "r0=tcp:" + std::string(65, '1'), std::string("r0=tcp:127.0.0.1\n"),
        std::string("r0=tcp:[::1]x99"), std::string("r0=tcp:127.0.0.1:+80"),
        std::string("r0=tcp:127.0.0.1: 80")}) {
    EXPECT_EQ(ParseRailSpec(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(RailSpec, UnknownKindNamesThoseThereAre) {
  auto loop = *EventLoop::Create("rail");
  const absl::Status status =
      CreateTransport({.name = "r0", .kind = "carrier-pigeon", .address = "x"}, {loop.get()})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("tcp"), absl::string_view::npos);
}

TEST(RailSpec, AddressOfAnotherHostIsFoundAtOnce) {
  auto loop = *EventLoop::Create("rail");
  for (const bool listen : {false, true}) {
    const absl::Status status =
        CreateTransport({.name = "r9", .kind = "tcp", .address = "192.0.2.1", .listen = listen},
                        {loop.get()})
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("192.0.2.1"), absl::string_view::npos) << status;
  }
}

TEST(RailSet, EachProcessorHasAPollerAtMost) {
  EXPECT_EQ(PollersPerRail(2, 2), 1u);
  EXPECT_EQ(PollersPerRail(1, 2), 2u);
  EXPECT_EQ(PollersPerRail(4, 2), 1u);
  EXPECT_EQ(PollersPerRail(3, 16), 5u);
  EXPECT_EQ(PollersPerRail(1, 256), kMaxPollers);
  EXPECT_EQ(PollersPerRail(1, 0), 1u) << "where their number is not known";
}

std::string ThreadNameOf(Executor& poller) {
  std::promise<std::string> name;
  poller.Post([&] {
    std::array<char, 16> text{};
    pthread_getname_np(pthread_self(), text.data(), text.size());
    name.set_value(text.data());
  });
  return name.get_future().get();
}

TEST(RailSet, EveryThreadIsNamedAfterItsRail) {
  const auto rails = RailSet::Create({"r0=tcp:127.0.0.1", "a-long-name=inproc:x"}, {});
  ASSERT_TRUE(rails.ok()) << rails.status();
  std::vector<std::string> names, expected;
  size_t others = 0;
  for (Executor* poller : (*rails)->executors()) names.push_back(ThreadNameOf(*poller));
  for (const std::string name : {"rail-r0", "rail-a-long-name"}) {
    const size_t pollers = (*rails)->transports()[expected.empty() ? 0 : 1]->pollers().size();
    expected.push_back(name.substr(0, 15));
    for (size_t i = 1; i < pollers; ++i) {
      expected.push_back(name.substr(0, 13) + "." + std::to_string(i));
    }
    others += pollers;
  }
  EXPECT_EQ(others, names.size());
  EXPECT_THAT(names, testing::ElementsAreArray(expected));
}

}  // namespace
}  // namespace tapedeck::dataplane
