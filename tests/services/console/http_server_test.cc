// The HTTP server beneath the console: who does not read is dropped, and nobody waits for him.
#include "services/console/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "services/console/http_limits.h"
#include "tests/services/daemon/admin/http_client.h"

namespace tapedeck::services::console {
namespace {

using admin::HttpClient;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr size_t kPartBytes = 64 << 10;

// Answers /ECHO with the body, and everything else with an endless stream.
class Endless final : public HttpHandler {
 public:
  void OnRequest(HttpServer& server, uint64_t number, HttpRequest request) override {
    if (request.path == "/ECHO") {
      server.Answer(number, {.content_type = "text/plain", .body = request.body});
      return;
    }
    if (request.path == "/large") {
      const bool room = server.Answer(number, {.body = std::string(kMaxWaitingBytes / 8, 'x')});
      if (!room) server.Answer(number, {.status = 429});
      refused_ += room ? 0 : 1;
      ++large_;
      return;
    }
    if (request.path == "/never") return;
    streams_[number] = &server;
    open_ = streams_.size();
    server.Send(number, "begun\n");
  }
  void OnGone(uint64_t number) override {
    streams_.erase(number);
    open_ = streams_.size();
    ++gone_;
  }
  void SendToAll() {
    for (const auto& [number, server] : streams_)
      server->Send(number, std::string(kPartBytes, 'x'));
  }
  void EndAll() {
    for (const auto& [number, server] : streams_) server->End(number);
  }
  size_t open() const { return open_; }
  int gone() const { return gone_; }
  int large() const { return large_; }
  int refused() const { return refused_; }

 private:
  std::map<uint64_t, HttpServer*> streams_;
  std::atomic<size_t> open_ = 0;
  std::atomic<int> gone_ = 0;
  std::atomic<int> large_ = 0;
  std::atomic<int> refused_ = 0;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = StartHttpServer({.listen = "127.0.0.1:0"}, *loop_, handler_);
    if (absl::IsUnimplemented(server.status())) GTEST_SKIP() << server.status().message();
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::unique_ptr<HttpClient> Get(absl::string_view path) const {
    auto client = std::make_unique<HttpClient>(server_->port());
    client->Say(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
    return client;
  }

  std::unique_ptr<dataplane::EventLoop> loop_ = dataplane::EventLoop::Create("http").value();
  Endless handler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, WhoDoesNotReadIsDroppedAndNobodyWaitsForHim) {
  const auto mute = Get("/stream");
  EXPECT_THAT(mute->HearUntil("begun", 1), HasSubstr("begun"));
  // The kernel's buffers hold some megabytes before anything stays here.
  for (int parts = 0; handler_.open() > 0; ++parts) {
    ASSERT_LT(parts, 10'000) << "what a client does not read is kept without a bound";
    loop_->RunAndWait([this] { handler_.SendToAll(); });
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_THAT(Get("/ECHO")->Hear(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, WhoReadsGetsAllOfIt) {
  const auto reader = Get("/stream");
  EXPECT_THAT(reader->HearUntil("begun", 1), HasSubstr("begun"));
  for (int i = 0; i < 8; ++i) {
    loop_->RunAndWait([this] { handler_.SendToAll(); });
    EXPECT_THAT(reader->HearUntil("x", kPartBytes), HasSubstr("xxx"));
  }
  loop_->RunAndWait([this] { handler_.EndAll(); });
  EXPECT_THAT(reader->Hear(), EndsWith("0\r\n\r\n"));
}

TEST_F(HttpServerTest, AConnectionTakesOneRequestAfterAnother) {
  const HttpClient client(server_->port());
  for (int i = 0; i < 50; ++i) {
    const std::string body = absl::StrCat("<", i, ">");
    client.Say(absl::StrCat("POST /ECHO HTTP/1.1\r\nHost: h\r\nContent-Length: ", body.size(),
                            "\r\n\r\n", body));
    EXPECT_THAT(client.HearUntil(body, 1), AllOf(StartsWith("HTTP/1.1 200"), EndsWith(body)));
  }
}

TEST_F(HttpServerTest, AnswersThatNobodyReadsAreBounded) {
  std::vector<std::unique_ptr<HttpClient>> mute;
  for (int i = 0; i < 8; ++i) mute.push_back(Get("/large"));
  while (handler_.large() < 8) absl::SleepFor(absl::Milliseconds(5));
  const auto last = Get("/large");
  EXPECT_THAT(last->HearUntil("\r\n", 1), StartsWith("HTTP/1.1 429"));
  EXPECT_EQ(handler_.refused(), 1);
  mute.clear();
  while (handler_.gone() < 9) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_THAT(Get("/large")->HearUntil("\r\n", 1), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, EndsWithRequestsThatNobodyAnswers) {
  const auto waits = Get("/never");
  const auto streams = Get("/stream");
  EXPECT_THAT(streams->HearUntil("begun", 1), HasSubstr("begun"));
  server_.reset();
  EXPECT_THAT(waits->Hear(), IsEmpty());
  EXPECT_THAT(streams->Hear(), Not(HasSubstr("begun")));
  EXPECT_EQ(handler_.gone(), 2);
}

TEST_F(HttpServerTest, AnAnswerToNobodyIsNobodys) {
  loop_->RunAndWait([this] {
    server_->Answer(77, {});
    server_->Send(77, "x");
    server_->End(77);
  });
  EXPECT_THAT(Get("/ECHO")->Hear(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, SaysWhyItCannotListen) {
  const std::string taken = absl::StrCat("127.0.0.1:", server_->port());
  const auto second = StartHttpServer({.listen = taken}, *loop_, handler_);
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr("--console: "), HasSubstr("another process")));
}

}  // namespace
}  // namespace tapedeck::services::console
