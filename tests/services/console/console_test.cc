// The console without certificates: calls as JSON, streams, and what it refuses.
#include "services/console/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "services/console/http_limits.h"
#include "services/rpc/identity/security.h"
#include "tests/services/daemon/admin/http_client.h"
#include "tests/services/loopback_node.h"

namespace tapedeck::services::console {
namespace {

using admin::HttpClient;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGetLun[] = "/api/tapedeck.v1.CatalogService/GetLun";
constexpr char kListLuns[] = "/api/tapedeck.v1.CatalogService/ListLuns";
constexpr char kCreateLun[] = "/api/tapedeck.v1.CatalogService/CreateLun";
constexpr char kWatchStats[] = "/api/tapedeck.v1.NodeService/WatchStats";
constexpr char kJsonType[] = "Content-Type: application/json\r\n";
constexpr char kEvents[] = "Accept: text/event-stream\r\n";

class ConsoleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto console = Console::Create(
        {.listen = "127.0.0.1:0", .workers = {absl::StrCat("w0=", worker_.address)}},
        {"n/storage", "127.0.0.1:7"}, *security_, *node_.server);
    if (absl::IsUnimplemented(console.status())) GTEST_SKIP() << console.status().message();
    ASSERT_TRUE(console.ok()) << console.status();
    console_ = *std::move(console);
  }

  // The whole answer.
  std::string Ask(absl::string_view method, absl::string_view path, absl::string_view headers = "",
                  absl::string_view body = "") const {
    const HttpClient client(console_->port());
    client.Say(absl::StrCat(method, " ", path, " HTTP/1.1\r\nConnection: close\r\n",
                            absl::StrContains(headers, "Host:") ? "" : "Host: 127.0.0.1\r\n",
                            headers, "\r\n", body));
    return client.Hear();
  }
  std::string Post(absl::string_view path, absl::string_view json,
                   absl::string_view headers = kJsonType) const {
    return Ask("POST", path, absl::StrCat(headers, "Content-Length: ", json.size(), "\r\n"), json);
  }
  // What a stream begins with.
  std::unique_ptr<HttpClient> Open(absl::string_view path, absl::string_view json = "{}") const {
    auto client = std::make_unique<HttpClient>(console_->port());
    client->Say(absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: 127.0.0.1\r\n", kJsonType, kEvents,
                             "Content-Length: ", json.size(), "\r\n\r\n", json));
    return client;
  }
  // The whole answer, of a stream that is refused.
  std::string Watch(absl::string_view headers = "") const {
    return Post(kWatchStats, "{}", absl::StrCat(kJsonType, kEvents, headers));
  }

  LoopbackNode node_, worker_;
  const std::unique_ptr<identity::Security> security_ =
      identity::Security::Create("127.0.0.1:0", {}).value();
  std::unique_ptr<Console> console_;
};

TEST_F(ConsoleTest, CallsOfTheNode) {
  const std::string made = Post(
      kCreateLun,
      R"({"lun_id":"l0","lun":{"store":"posix","members":["/a"],"capacity_bytes":7,"max_age_s":1.5,"full_policy":"ring"}})");
  EXPECT_THAT(made, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr(R"("name":"luns/l0")"),
                          HasSubstr(R"("capacity_bytes":7,"used_bytes":0)"),
                          HasSubstr(R"("full_policy":"ring","max_age_s":1.5)")));
  EXPECT_THAT(Post(kListLuns, "{}"), HasSubstr(R"({"luns":[{"name":"luns/l0")"));
  EXPECT_THAT(Post(kGetLun, R"({"name":"luns/l1"})"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr(R"("code":"NOT_FOUND")"),
                    HasSubstr(R"("reason":"LUN_NOT_FOUND")"),
                    HasSubstr(R"("metadata":{"lun":"luns/l1"})")));
}

TEST_F(ConsoleTest, CallsOfAWorkerAreThatWorkers) {
  const std::string jobs = "/api/workers/w0/tapedeck.v1.PipelineService/ListJobs";
  EXPECT_THAT(Post(jobs, "{}"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr(R"("jobs":[])")));
  for (const char* path : {"/api/workers/w1/tapedeck.v1.PipelineService/ListJobs",
                           "/api/workers/w0/tapedeck.v1.CatalogService/ListLuns", "/api/workers/w0",
                           "/api/workers//tapedeck.v1.PipelineService/ListJobs",
                           "/api/tapedeck.v1.NoService/ListJobs"}) {
    EXPECT_THAT(Post(path, "{}"), StartsWith("HTTP/1.1 404")) << path;
  }
}

TEST_F(ConsoleTest, SaysWhatItIs) {
  EXPECT_THAT(
      Ask("GET", "/api/console"),
      HasSubstr(
          R"({"node":"n/storage","listen":"127.0.0.1:7","version":"0.1.0","identity":"","workers":["w0"]})"));
  EXPECT_THAT(Ask("GET", "/"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/html")));
  EXPECT_THAT(Ask("HEAD", "/"), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\n")));
}

TEST_F(ConsoleTest, EveryAnswerForbidsForeignScriptsAndFrames) {
  for (const std::string& answer :
       {Ask("GET", "/"), Ask("GET", "/nothing"), Ask("GET", "/api/console"), Post(kListLuns, "{}"),
        Post(kListLuns, "]"), Ask("PUT", "/")}) {
    EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src 'self';")) << answer;
    EXPECT_THAT(answer, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(answer, Not(HasSubstr("unsafe-inline")));
    EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff"));
    EXPECT_THAT(answer, HasSubstr("Referrer-Policy: no-referrer"));
  }
}

TEST_F(ConsoleTest, RefusesWhatIsNoCall) {
  for (const char* path :
       {"/api/tapedeck.v1.CatalogService/NoSuch", "/api/tapedeck.v1.CatalogService",
        "/api/tapedeck.v1.SessionService/Transfer", "/api/grpc.health.v1.Health/Check",
        "/api/tapedeck.v1.CatalogService/GetLun/", "/api/", "/api/../api/console", "/etc/passwd",
        "/assets/../../etc/passwd", "/%00"}) {
    EXPECT_THAT(Post(path, "{}"), StartsWith("HTTP/1.1 404")) << path;
  }
  EXPECT_THAT(Ask("GET", kGetLun), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Post(kWatchStats, "{}"), StartsWith("HTTP/1.1 400"));
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "CONNECT", "BREW"}) {
    EXPECT_THAT(Ask(method, kListLuns), StartsWith("HTTP/1.1 405")) << method;
  }
}

TEST_F(ConsoleTest, RefusesWhatIsNoRequest) {
  for (const char* json :
       {"]", "{", "[]", "\"", R"({"nme":"luns/l0"})", R"({"name":7e})", R"({"name":"\xff"})",
        R"({"name":{"name":1}})", "{\"name\":\"\xff\xfe\"}", "null null"}) {
    EXPECT_THAT(Post(kGetLun, json),
                AllOf(StartsWith("HTTP/1.1 400"), HasSubstr(R"("code":"INVALID_ARGUMENT")")))
        << json;
  }
  EXPECT_THAT(Post(kGetLun, std::string(60'000, '[')), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Post(kListLuns, "{}", "Content-Type: text/plain\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Post(kListLuns, "{}", ""), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Post(kListLuns, "{}", "Content-Type: application/json; charset=utf-8\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(ConsoleTest, TakesNoLongBodiesAndNoneOfUnknownLength) {
  EXPECT_THAT(Post(kListLuns, std::string(kMaxBodyBytes + 1, ' ')), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Post(kListLuns, std::string(kMaxBodyBytes, ' ')), StartsWith("HTTP/1.1 400"));
  const auto with = [&](absl::string_view header) {
    return Ask("POST", kListLuns, absl::StrCat(kJsonType, header, "\r\n"), "2\r\n{}\r\n0\r\n\r\n");
  };
  EXPECT_THAT(with("Transfer-Encoding: chunked"), StartsWith("HTTP/1.1 411"));
  EXPECT_THAT(with("X: no length"), StartsWith("HTTP/1.1 411"));
  EXPECT_THAT(with("Content-Length: 99999999999999999999"), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(with("Content-Length: -1"), StartsWith("HTTP/1.1 4"));
  const std::string long_text(kConnectionBytes, 'x');
  EXPECT_THAT(Ask("GET", absl::StrCat(kWatchStats, "?request=", long_text)),
              AnyOf(IsEmpty(), StartsWith("HTTP/1.1 4")));
  EXPECT_THAT(Ask("GET", "/", absl::StrCat("X: ", long_text, "\r\n")),
              AnyOf(IsEmpty(), StartsWith("HTTP/1.1 4")));
}

TEST_F(ConsoleTest, OnlyItsOwnPageMayCall) {
  const auto asked = [&](absl::string_view headers) {
    return Post(kListLuns, "{}", absl::StrCat(kJsonType, headers));
  };
  EXPECT_THAT(asked("Host: 127.0.0.1:80\r\nOrigin: http://127.0.0.1:80\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(asked("Host: localhost:80\r\nSec-Fetch-Site: same-origin\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(asked("Host: [::1]:80\r\n"), StartsWith("HTTP/1.1 200"));
  for (const char* headers :
       {"Origin: http://127.0.0.1:81\r\n", "Origin: null\r\n", "Origin: https://127.0.0.1\r\n",
        "Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n", "Host: evil.example\r\n", "Host: 127.0.0.1.evil\r\n",
        "Host: evil.example\r\nOrigin: http://evil.example\r\n", "Host: 127.0.0.1:x\r\n",
        "Host: localhost.evil\r\n", "Host: [::1\r\n", "Host: 1\r\n", "Host: \r\n"}) {
    EXPECT_THAT(asked(headers), StartsWith("HTTP/1.1 403")) << headers;
  }
  EXPECT_THAT(Ask("GET", "/", "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Watch("Origin: http://evil\r\n"), StartsWith("HTTP/1.1 403"));
}

// On an address that is none of the loopback browsers say of a plain GET neither where it comes
// from, nor ask beforehand.
TEST_F(ConsoleTest, WhatAnyPageCanSendStartsNoCall) {
  for (const char* path : {kWatchStats, kListLuns}) {
    for (const char* headers : {kEvents, "", "Accept: */*\r\n"}) {
      EXPECT_THAT(Ask("GET", path, headers), StartsWith("HTTP/1.1 400")) << path << headers;
      EXPECT_THAT(Ask("GET", absl::StrCat(path, "?request=%7B%7D"), headers),
                  StartsWith("HTTP/1.1 400"));
      for (const char* type :
           {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data"}) {
        EXPECT_THAT(Post(path, "{}", absl::StrCat(headers, "Content-Type: ", type, "\r\n")),
                    StartsWith("HTTP/1.1 400"))
            << path << type;
      }
    }
  }
}

TEST_F(ConsoleTest, WhatCallersSayComesBackAsJsonAlone) {
  const std::string markup = "<script>alert(1)</script>\\u0000\\u001b[2J";
  for (const std::string& answer :
       {Post(kGetLun, absl::StrCat(R"({"name":"luns/)", markup, R"("})")),
        Post(kGetLun, absl::StrCat(R"({")", markup, R"(":1})")),
        Post(absl::StrCat("/api/", absl::StrReplaceAll(markup, {{"<", "%3C"}, {"\\", "%1b"}})),
             "{}")}) {
    EXPECT_THAT(answer, Not(HasSubstr("<script")));
    EXPECT_THAT(answer, Not(HasSubstr("\x1b")));
    EXPECT_THAT(answer, HasSubstr("Content-Type: application/json"));
  }
}

TEST_F(ConsoleTest, StreamsComeAsEvents) {
  Post(kCreateLun, R"({"lun_id":"l0","lun":{"store":"posix","members":["/a"]}})");
  const auto stats = Open(kWatchStats, R"({"interval_s":0.1})");
  const std::string two = stats->HearUntil(R"("sessions_opened":5,)", 2);
  EXPECT_THAT(two, AllOf(HasSubstr("Content-Type: text/event-stream"), HasSubstr("data: {")));
  const auto verify = Open("/api/tapedeck.v1.CatalogService/VerifyRecording",
                           R"({"name":"luns/l0/channels/c/recordings/r"})");
  EXPECT_THAT(verify->HearUntil("}}", 1),
              AllOf(HasSubstr("event: error\ndata: {"), HasSubstr("RECORDING_NOT_FOUND")));
}

TEST_F(ConsoleTest, StreamsAndConnectionsAreBounded) {
  std::vector<std::unique_ptr<HttpClient>> streams;
  for (int i = 0; i < kMaxStreams; ++i) {
    streams.push_back(Open(kWatchStats));
    EXPECT_THAT(streams.back()->HearUntil("data:", 1), StartsWith("HTTP/1.1 200")) << i;
  }
  EXPECT_THAT(Watch(), AllOf(StartsWith("HTTP/1.1 429"), HasSubstr("LIMIT_REACHED")));
  // Who says little by little what he wants keeps nobody out, and no stream ends for it.
  std::vector<std::unique_ptr<HttpClient>> loris;
  for (unsigned i = 0; i < 200; ++i) {
    loris.push_back(std::make_unique<HttpClient>(console_->port()));
    loris.back()->Say("POST / HTTP/1.1\r\nX: ");
  }
  EXPECT_THAT(Post(kListLuns, "{}"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(streams.front()->HearUntil("data:", 1), HasSubstr("data:"));
  // A place is free once its client has gone.
  streams.pop_back();
  std::string freed;
  while (!absl::StartsWith(freed, "HTTP/1.1 200")) {
    freed = Open(kWatchStats)->HearUntil("\n", 1);
  }
}

TEST_F(ConsoleTest, HalfARequestAndGarbageHarmNobody) {
  const HttpClient half(console_->port());
  half.Say(absl::StrCat("POST ", kListLuns, " HTTP/1.1\r\nHost: 127.0.0.1\r\n", kJsonType,
                        "Content-Length: 10\r\n\r\n{"));
  const HttpClient garbage(console_->port());
  garbage.Say(std::string("\x16\x03\x01\x00\xff\r\n\r\n\0\0\0\n\n", 14));
  EXPECT_THAT(garbage.Hear(), Not(HasSubstr("200 OK")));
  EXPECT_THAT(Post(kListLuns, "{}"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ConsoleTest, EndsWithCallsUnderWay) {
  const auto stream = Open(kWatchStats);
  EXPECT_THAT(stream->HearUntil("data:", 1), HasSubstr("data:"));
  const std::string json =
      R"({"channel":"luns/l0/channels/mute","storage":"s:1","source":{"name":"synth"}})";
  const HttpClient waits(console_->port());
  waits.Say(absl::StrCat(
      "POST /api/workers/w0/tapedeck.v1.PipelineService/StartRecord HTTP/1.1\r\n",
      "Host: 127.0.0.1\r\n", kJsonType, "Content-Length: ", json.size(), "\r\n\r\n", json));
  while (worker_.jobs.waiting() == 0) absl::SleepFor(absl::Milliseconds(5));
  console_.reset();
  EXPECT_THAT(waits.Hear(), IsEmpty());
  worker_.jobs.LetGo();
}

TEST_F(ConsoleTest, WithoutAnAddressThereIsNone) {
  const auto none = Console::Create({}, {}, *security_, *node_.server);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ((*none)->port(), 0);
}

TEST(ConsoleSettingsTest, WorkersHaveNamesAndAddresses) {
  EXPECT_EQ(ParseWorker("gpu-0=10.0.0.2:7500")->name, "gpu-0");
  EXPECT_EQ(ParseWorker("w=[::1]:7500")->address, "[::1]:7500");
  for (const char* wrong : {"", "w", "=h:1", "w=h", "w=h:70000", "a/b=h:1", "..=h:1", "a b=h:1"}) {
    EXPECT_FALSE(ParseWorker(wrong).ok()) << wrong;
  }
  EXPECT_TRUE(CheckOptions({"127.0.0.1:1", {"a=h:1", "b=h:1"}}, {}).ok());
  EXPECT_FALSE(CheckOptions({"127.0.0.1:1", {"a=h:1", "a=h:2"}}, {}).ok());
  EXPECT_FALSE(CheckOptions({"127.0.0.1:1", std::vector<std::string>(17, "a=h:1")}, {}).ok());
  EXPECT_FALSE(CheckOptions({"0.0.0.0:1", {}}, {}).ok());
}

}  // namespace
}  // namespace tapedeck::services::console
