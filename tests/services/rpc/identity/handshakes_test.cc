// Failed handshakes are counted and named, and one host cannot have them all.
#include "services/rpc/identity/tls/handshakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "services/observe/telemetry/page.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/identity/tls/openssl.h"
#include "tests/services/rpc/identity/secure_server.h"

namespace tapedeck::services::identity {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, Freed<SSL_free>>;

// Connections that are made, and never say a word.
class HandshakesTest : public testing::Test {
 protected:
  // Null: not admitted.
  Connection Begin(const std::string& peer) const {
    const Handshakes::Arrival arrival(handshakes_, peer);
    return arrival.admitted() ? Connection(SSL_new(context_.get())) : nullptr;
  }

  const Context context_{SSL_CTX_new(TLS_server_method())};
  const Handshakes handshakes_{{.at_once = 3, .of_one_host = 2}};
};

TEST_F(HandshakesTest, SoManyAtOnceOfOneHostAndOfAll) {
  Connection first = Begin("10.0.0.7:1");
  const Connection second = Begin("10.0.0.7:2");
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(Begin("10.0.0.7:3"), nullptr);
  const Connection third = Begin("[::1]:1");
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(Begin("10.0.0.8:1"), nullptr);
  EXPECT_EQ(handshakes_.under_way(), 3u);
  first.reset();
  EXPECT_EQ(handshakes_.under_way(), 2u);
  EXPECT_EQ(handshakes_.failed(), 1u);
  EXPECT_NE(Begin("10.0.0.7:4"), nullptr);
}

TEST_F(HandshakesTest, WhatTheProgramOpensItselfIsNobodys) {
  const Connection own(SSL_new(context_.get()));
  EXPECT_EQ(handshakes_.under_way(), 0u);
}

TEST_F(HandshakesTest, ConnectionsMayOutliveIt) {
  auto handshakes = std::make_unique<Handshakes>();
  const Connection left = [&] {
    const Handshakes::Arrival arrival(*handshakes, "10.0.0.7:1");
    return Connection(SSL_new(context_.get()));
  }();
  handshakes.reset();
}

std::string PageOf(const SecureServer& server) {
  telemetry::Page page;
  server.server().AddMetrics(page);
  return page.Text();
}

// The log of a call by someone who is refused, once the server has counted that.
std::string LogOf(const SecureServer& server, const client::Channel& channel) {
  testing::internal::CaptureStderr();
  const absl::Status status = client::CatalogClient(channel, kPatience).ListLuns().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  while (absl::StrContains(PageOf(server), "handshakes_failed_total 0") &&
         dataplane::SteadyTime() < until) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  return testing::internal::GetCapturedStderr();
}

TEST(FailedHandshakesTest, SayWhoAndWhy) {
  const SecureServer server("");
  EXPECT_THAT(PageOf(server), HasSubstr("handshakes_failed_total 0"));
  const Authority other;
  TlsFiles files = other.Issue("ann", "URI:spiffe://lab/ann");
  files.ca = server.authority().directory() + "/ca.pem";
  EXPECT_THAT(LogOf(server, server.ChannelWith(files)),
              AllOf(HasSubstr("msg=\"no handshake\" peer=127.0.0.1:"), HasSubstr("authority")));
}

TEST(FailedHandshakesTest, WhoSpeaksNoTlsIsNamedToo) {
  const SecureServer server("");
  EXPECT_THAT(LogOf(server, client::MakeChannel(server.address())),
              HasSubstr("msg=\"no handshake\" peer=127.0.0.1:"));
}

TEST(FailedHandshakesTest, GoodOnesAreNotCounted) {
  const SecureServer server("");
  const auto channel = server.ChannelOf("ann");
  EXPECT_TRUE(client::CatalogClient(channel, kPatience).ListLuns().ok());
  EXPECT_THAT(PageOf(server), HasSubstr("handshakes_failed_total 0"));
}

}  // namespace
}  // namespace tapedeck::services::identity
