#include "dataplane/socket_address.h"

#include <gtest/gtest.h>

namespace tapedeck::dataplane {
namespace {

TEST(SplitHostPort, SplitsAtTheLastColon) {
  const struct {
    std::string text, host, bare, port;
  } rows[] = {{"a.lab:7400", "a.lab", "a.lab", "7400"},
              {"[::1]:80", "[::1]", "::1", "80"},
              {"ipv4:10.0.0.7:1", "ipv4:10.0.0.7", "ipv4:10.0.0.7", "1"},
              {"host", "host", "host", ""},
              {":80", "", "", "80"},
              {"host:", "host", "host", ""},
              {"", "", "", ""}};
  for (const auto& row : rows) {
    const HostPort split = SplitHostPort(row.text);
    EXPECT_EQ(split.host, row.host) << row.text;
    EXPECT_EQ(split.bare(), row.bare) << row.text;
    EXPECT_EQ(split.port, row.port) << row.text;
  }
}

TEST(ParsePort, TakesDigitsUpTo65535) {
  EXPECT_EQ(ParsePort("0"), 0);
  EXPECT_EQ(ParsePort("65535"), 65535);
  for (const char* text :
       {"", "65536", "-1", "+1", " 1", "1 ", "0x1", "000080", "99999999999999999999"}) {
    EXPECT_FALSE(ParsePort(text).has_value()) << text;
  }
}

TEST(ParseIp, ReadsNumericAddressesAlone) {
  const std::pair<std::string, std::string> rows[] = {{"10.0.0.7", "10.0.0.7:4711"},
                                                      {"::1", "[::1]:4711"},
                                                      {"FE80:0::1", "[fe80::1]:4711"},
                                                      {"::ffff:10.0.0.7", "10.0.0.7:4711"}};
  for (const auto& [ip, text] : rows) {
    const auto address = ParseIp(ip, 4711);
    ASSERT_TRUE(address.has_value()) << ip;
    EXPECT_EQ(address->text(), text);
    EXPECT_EQ(address->port(), 4711);
  }
  for (const char* ip : {"", "localhost", "10.0.0", "[::1]", "::1%lo", "10.0.0.7:1", "1::2::3"}) {
    EXPECT_FALSE(ParseIp(ip).has_value()) << ip;
  }
  EXPECT_FALSE(ParseIp(absl::string_view("10.0.0.7\0x", 10)).has_value()) << "a NUL ends nothing";
}

TEST(ParseIpAndPort, WantsBracketsAroundIpv6AndAPortFrom1) {
  EXPECT_EQ(ParseIpAndPort("127.0.0.1:80")->text(), "127.0.0.1:80");
  EXPECT_EQ(ParseIpAndPort("[::1]:65535")->text(), "[::1]:65535");
  for (const char* text : {"", ":80", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "::1:80",
                           "[127.0.0.1]:80", "[::1:80", "::1]:80", "[::1]", "localhost:80"}) {
    EXPECT_FALSE(ParseIpAndPort(text).has_value()) << text;
  }
}

TEST(SocketAddress, Ipv4IsMappedIntoIpv6AndBack) {
  const std::array<uint8_t, 16> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 7};
  EXPECT_EQ(ParseIp("10.0.0.7")->v6_bytes(), mapped);
  EXPECT_EQ(SocketAddress(mapped).ip(), "10.0.0.7");
  EXPECT_FALSE(SocketAddress(mapped).is_v6());
  const auto v6 = ParseIp("2001:db8::5")->v6_bytes();
  EXPECT_EQ(SocketAddress(v6).ip(), "2001:db8::5");
  EXPECT_TRUE(SocketAddress(v6).is_v6());
}

TEST(SocketAddress, ASocketWithoutOneHasNoText) {
  EXPECT_EQ(LocalAddress(Fd()).ip(), "");
  EXPECT_EQ(LocalAddress(Fd()).port(), 0);
  EXPECT_EQ(PeerAddress(Fd(socket(AF_INET, SOCK_STREAM, 0))).text(), "unknown");
}

}  // namespace
}  // namespace tapedeck::dataplane
