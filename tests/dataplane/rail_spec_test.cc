#include <gtest/gtest.h>

#include "dataplane/transport/list.h"

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

TEST(RailSpec, RefusesWhatIsIncomplete) {
  for (const char* text : {"", "r0", "r0=", "r0=tcp", "r0=tcp:", "=tcp:127.0.0.1",
                           "r0=tcp:127.0.0.1:x", "r0=tcp:127.0.0.1:70000", "r0=tcp:[::1"}) {
    EXPECT_EQ(ParseRailSpec(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(RailSpec, NamesHaveABound) {
  EXPECT_TRUE(ParseRailSpec(std::string(63, 'r') + "=tcp:127.0.0.1").ok());
  EXPECT_EQ(ParseRailSpec(std::string(64, 'r') + "=tcp:127.0.0.1").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(RailSpec, UnknownKindNamesThoseThereAre) {
  auto loop = *EventLoop::Create("rail");
  const absl::Status status =
      CreateTransport({.name = "r0", .kind = "carrier-pigeon", .address = "x"}, *loop).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("tcp"), absl::string_view::npos);
}

TEST(RailSpec, AddressOfAnotherHostIsFoundAtOnce) {
  auto loop = *EventLoop::Create("rail");
  for (const bool listen : {false, true}) {
    const absl::Status status =
        CreateTransport({.name = "r9", .kind = "tcp", .address = "192.0.2.1", .listen = listen},
                        *loop)
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("192.0.2.1"), absl::string_view::npos) << status;
  }
}

}  // namespace
}  // namespace tapedeck::dataplane
