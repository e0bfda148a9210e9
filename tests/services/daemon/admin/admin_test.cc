// The admin port: what it answers when, and what strangers cannot make of it.
#include "services/daemon/admin/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <vector>

#include "services/daemon/admin/http_limits.h"
#include "tests/services/daemon/admin/http_client.h"

namespace tapedeck::services::admin {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class AdminTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto admin = Admin::Create("127.0.0.1:0");
    if (absl::IsUnimplemented(admin.status())) GTEST_SKIP() << admin.status().message();
    ASSERT_TRUE(admin.ok()) << admin.status();
    admin_ = *std::move(admin);
  }
  void Serve() {
    admin_->Serve(
        {.metrics =
             [this] {
               ++pages_;
               return std::string("tapedeck_x 1\n");
             },
         .health = [this] { return broken_ ? absl::InternalError("broken") : absl::OkStatus(); },
         .remark = [this] { return ailing_ ? absl::InternalError("ailing") : absl::OkStatus(); }});
  }

  std::atomic<int> pages_ = 0;
  std::atomic<bool> broken_ = false;
  std::atomic<bool> ailing_ = false;
  std::unique_ptr<Admin> admin_;
};

TEST_F(AdminTest, ReadyFromServeToDrain) {
  const int port = admin_->port();
  EXPECT_THAT(Ask(port, "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(port, "/readyz"), AllOf(StartsWith("HTTP/1.1 503"), EndsWith("starting\n")));
  EXPECT_THAT(Ask(port, "/metrics"), StartsWith("HTTP/1.1 503"));
  Serve();
  EXPECT_THAT(Ask(port, "/readyz"), StartsWith("HTTP/1.1 200"));
  admin_->Drain();
  EXPECT_THAT(Ask(port, "/readyz"), AllOf(StartsWith("HTTP/1.1 503"), EndsWith("draining\n")));
  EXPECT_THAT(Ask(port, "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(port, "/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST_F(AdminTest, ANodeThatCanDoNothingMoreIsNotReadyAndSaysWhy) {
  Serve();
  broken_ = true;
  EXPECT_THAT(Ask(admin_->port(), "/readyz"),
              AllOf(StartsWith("HTTP/1.1 503"), EndsWith("broken\n")));
  EXPECT_THAT(Ask(admin_->port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(admin_->port(), "/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST_F(AdminTest, ANodeThatGoesOnIsReadyAndSaysWhatIsWrong) {
  Serve();
  ailing_ = true;
  EXPECT_THAT(Ask(admin_->port(), "/readyz"),
              AllOf(StartsWith("HTTP/1.1 200"), EndsWith("ok, but ailing\n")));
}

TEST_F(AdminTest, MetricsSayWhatTheyAre) {
  Serve();
  EXPECT_THAT(Ask(admin_->port(), "/metrics"),
              AllOf(HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
                    HasSubstr("Connection: close\r\n"), EndsWith("\r\n\r\ntapedeck_x 1\n")));
  EXPECT_THAT(Ask(admin_->port(), "/metrics", "HEAD"),
              AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\n")));
}

TEST_F(AdminTest, RefusesOtherPathsAndMethods) {
  Serve();
  EXPECT_THAT(Ask(admin_->port(), "/"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask(admin_->port(), "/metrics/../etc/passwd"), StartsWith("HTTP/1.1 404"));
  for (const char* method : {"POST", "DELETE", "CONNECT", "BREW"}) {
    EXPECT_THAT(Ask(admin_->port(), "/metrics", method), StartsWith("HTTP/1.1 405")) << method;
  }
  EXPECT_EQ(pages_, 0);
}

TEST_F(AdminTest, RequestsAtTheSameTimeCostOnePage) {
  Serve();
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (unsigned i = 0; i < kCrowd; ++i) {
    clients.push_back(std::make_unique<HttpClient>(admin_->port()));
    clients.back()->Say("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
  }
  for (const auto& client : clients) EXPECT_THAT(client->Hear(), EndsWith("tapedeck_x 1\n"));
  EXPECT_LT(pages_, static_cast<int>(kCrowd) / 2);
}

TEST_F(AdminTest, WhoHoldsConnectionsOpenKeepsNobodyOut) {
  Serve();
  std::vector<std::unique_ptr<HttpClient>> loris;
  for (unsigned i = 0; i < 4 * kMaxConnections; ++i) {
    loris.push_back(std::make_unique<HttpClient>(admin_->port()));
    loris.back()->Say("GET /metrics HTTP/1.1\r\nX: ");
    if (i % kMaxConnections == 0) {
      EXPECT_THAT(Ask(admin_->port(), "/healthz"), StartsWith("HTTP/1.1 200"));
    }
  }
  EXPECT_THAT(Ask(admin_->port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  // All but the last few were sent away, and have not been waited for.
  for (unsigned i = 0; i < 3 * kMaxConnections; ++i) EXPECT_THAT(loris[i]->Hear(), IsEmpty());
}

TEST_F(AdminTest, EndsWhoTakesTooLong) {
  const HttpClient slow(admin_->port());
  ASSERT_TRUE(slow.Say("GET /healthz HTTP/1.1\r\nX: "));
  EXPECT_THAT(slow.Hear(), IsEmpty());
}

TEST_F(AdminTest, TakesNoLongHeadersAndNoGarbage) {
  Serve();
  const HttpClient long_header(admin_->port());
  long_header.Say("GET /metrics HTTP/1.1\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n");
  EXPECT_THAT(long_header.Hear(), Not(HasSubstr("tapedeck_x")));
  const HttpClient long_path(admin_->port());
  long_path.Say("GET /" + std::string(1 << 20, 'x') + " HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_THAT(long_path.Hear(), AnyOf(IsEmpty(), StartsWith("HTTP/1.1 4")));
  const HttpClient garbage(admin_->port());
  garbage.Say(std::string("\x16\x03\x01\x00\xff\r\n\r\n\0\0\0\n\n", 14));
  EXPECT_THAT(garbage.Hear(), Not(HasSubstr("tapedeck_x")));
  EXPECT_THAT(Ask(admin_->port(), "/metrics"), EndsWith("tapedeck_x 1\n"));
}

TEST_F(AdminTest, SaysWhyItCannotListen) {
  const std::string taken = absl::StrCat("127.0.0.1:", admin_->port());
  EXPECT_THAT(Admin::Create(taken).status().message(),
              AllOf(HasSubstr("--admin: "), HasSubstr(taken), HasSubstr("another process")));
  for (const char* wrong : {"127.0.0.1", "127.0.0.1:70000", ":9400", "203.0.113.7:9400"}) {
    EXPECT_FALSE(Admin::Create(wrong).ok()) << wrong;
  }
}

TEST(NoAdminTest, ListensNowhere) {
  const auto admin = Admin::Create("");
  ASSERT_TRUE(admin.ok());
  (*admin)->Serve({.metrics = [] { return std::string(); }});
  EXPECT_EQ((*admin)->port(), 0);
}

}  // namespace
}  // namespace tapedeck::services::admin
