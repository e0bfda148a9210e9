// Whose calls the console's are: by the certificate that a caller of it has, and by nothing that
// anybody can say over a network.
#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/now.h"
#include "services/base/files/input_file.h"
#include "services/console/console.h"
#include "services/console/http_limits.h"
#include "services/rpc/client/calls/call_status.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/caller_tokens.h"
#include "services/rpc/identity/policy.h"
#include "tapedeck/v1/catalog.grpc.pb.h"
#include "tests/services/console/https_client.h"
#include "tests/services/rpc/identity/secure_server.h"

namespace tapedeck::services::console {
namespace {

using identity::Authority;
using identity::Caller;
using identity::CallerTokens;
using identity::IsAccessDenied;
using identity::SecureServer;
using identity::TlsFiles;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kCreateLun[] = "/api/tapedeck.v1.CatalogService/CreateLun";
constexpr char kListLuns[] = "/api/tapedeck.v1.CatalogService/ListLuns";
constexpr char kStartRecord[] = "/api/workers/w0/tapedeck.v1.PipelineService/StartRecord";
constexpr char kNewLun[] = R"({"lun_id":"a","lun":{"store":"posix","members":["/a"]}})";
constexpr char kAnns[] =
    R"({"channel":"luns/a/channels/ann","storage":"s:1","source":{"name":"synth"},"blocks":"1"})";

constexpr char kPolicy[] =
    "rules:\n"
    "- {identities: ['spiffe://lab/root'], role: admin, resources: ['luns/*']}\n"
    "- {identities: ['spiffe://lab/ann'], role: operator, resources: [luns/a/channels/ann]}\n"
    "- {identities: ['spiffe://lab/bob'], role: viewer, resources: ['luns/*']}\n";

std::string AsUri(const std::string& name) { return absl::StrCat("URI:spiffe://lab/", name); }

// A call of gRPC that says something of whose it is.
absl::Status Say(const std::shared_ptr<grpc::Channel>& channel, const std::string& token) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(dataplane::WallTime() + identity::kPatience));
  if (!token.empty()) context.AddMetadata(identity::kCallerTokenKey, token);
  v1::GetLunRequest request;
  request.set_name("luns/a");
  v1::Lun answer;
  const auto stub = v1::CatalogService::NewStub(channel);
  return client::CallStatus(stub->GetLun(&context, request, &answer), "node");
}

TEST(CallerTokensTest, ReadsWhatItHasWrittenAndNothingElse) {
  const CallerTokens caller_tokens = CallerTokens::Create().value();
  const Caller ann{.peer = "spiffe://lab/ann", .certificate = "PEM\nPEM\n"};
  const std::string text = caller_tokens.Write(ann);
  EXPECT_EQ(caller_tokens.Read(text).value(), ann);
  EXPECT_TRUE(IsAccessDenied(CallerTokens::Create().value().Read(text).status()));
  for (size_t bytes = 0; bytes <= 32; ++bytes) {
    EXPECT_TRUE(IsAccessDenied(caller_tokens.Read(text.substr(0, bytes)).status())) << bytes;
  }
  for (size_t at = 0; at < 32; ++at) {
    std::string other = text;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_TRUE(IsAccessDenied(caller_tokens.Read(other).status())) << at;
  }
  EXPECT_TRUE(IsAccessDenied(caller_tokens.Read("").status()));
}

TEST(CallerTokenCallTest, OnlyTheProcessItselfIsBelieved) {
  const SecureServer server(kPolicy);
  const std::string of_root =
      server.server().caller_tokens().Write({.peer = "spiffe://lab/root", .certificate = ""});
  const auto own = server.server().OwnChannel();
  EXPECT_TRUE(absl::IsNotFound(Say(own, of_root)));  // there is no such LUN, and root may ask
  EXPECT_TRUE(IsAccessDenied(Say(own, "")));
  EXPECT_TRUE(IsAccessDenied(Say(own, std::string(64, 'x'))));
  EXPECT_TRUE(IsAccessDenied(
      Say(own, server.server().caller_tokens().Write({.peer = "spiffe://lab/eve"}))));
  // Over the network not even what the process has written.
  const auto network = server.ChannelOf("eve").channel;
  EXPECT_TRUE(IsAccessDenied(Say(network, of_root)));
  EXPECT_TRUE(IsAccessDenied(Say(network, std::string(64, 'x'))));
  const auto of_bob = server.ChannelOf("bob").channel;
  EXPECT_TRUE(absl::IsNotFound(Say(of_bob, "")));
  EXPECT_TRUE(IsAccessDenied(Say(of_bob, of_root)));
}

TEST(CallerOfCertificateTest, RefusesWhatIsNoCertificate) {
  for (const std::string& wrong : {std::string(), std::string("x"), std::string(1000, '\x30')}) {
    EXPECT_TRUE(IsAccessDenied(identity::CallerOfCertificate(wrong).status()));
  }
}

class CallersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto console = Console::Create(
        {.listen = "127.0.0.1:0", .workers = {absl::StrCat("w0=", worker_.address())}}, {},
        server_.security(), server_.server());
    if (absl::IsUnimplemented(console.status())) GTEST_SKIP() << console.status().message();
    ASSERT_TRUE(console.ok()) << console.status();
    console_ = *std::move(console);
  }
  TlsFiles Issue(const std::string& name) const {
    return server_.authority().Issue(name, AsUri(name));
  }
  std::string Post(const TlsFiles& files, absl::string_view path, absl::string_view json) const {
    return PostOverTls(console_->port(), files, path, json);
  }
  std::string About(const TlsFiles& files) const {
    return AskOverTls(console_->port(), files,
                      "GET /api/console HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n");
  }

  const SecureServer server_{kPolicy};
  // It believes the storage node, whose certificate is called "server", for whom it calls.
  mutable SecureServer worker_{absl::StrCat(kPolicy,
                                            "- {identities: [server], role: worker, resources: "
                                            "['luns/*']}\n"),
                               false, &server_.authority()};
  std::unique_ptr<Console> console_;
};

TEST_F(CallersTest, WithoutAGoodCertificateThereIsNoConnection) {
  EXPECT_THAT(About(Issue("ann")), HasSubstr(R"("identity":"spiffe://lab/ann")"));
  EXPECT_THAT(About({.ca = server_.authority().directory() + "/ca.pem"}), IsEmpty());
  const Authority other;
  TlsFiles foreign = other.Issue("ann", AsUri("ann"));
  foreign.ca = server_.authority().directory() + "/ca.pem";
  EXPECT_THAT(About(foreign), IsEmpty());
  EXPECT_THAT(About(server_.authority().Issue("old", AsUri("ann"), -1)), IsEmpty());
  EXPECT_THAT(About(server_.authority().Issue("two", "URI:a:1,URI:a:2")),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("more than one URI")));
}

TEST_F(CallersTest, ThePolicyCountsAsOnTheOtherPort) {
  const TlsFiles bob = Issue("bob");
  EXPECT_THAT(Post(bob, kListLuns, "{}"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Post(bob, kCreateLun, kNewLun),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr(R"("reason":"ACCESS_DENIED")"),
                    HasSubstr(R"("identity":"spiffe://lab/bob")")));
  EXPECT_THAT(Post(Issue("root"), kCreateLun, kNewLun), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Post(Issue("eve"), "/api/tapedeck.v1.CatalogService/GetLun", R"({"name":"luns/a"})"),
              StartsWith("HTTP/1.1 403"));
}

TEST_F(CallersTest, OneIdentityLeavesRoomForOthers) {
  const TlsFiles bob = Issue("bob");
  std::vector<std::thread> streams;
  for (int i = 0; i < kMaxOfOne; ++i) {
    // One of them may be refused for a call of the loop below, and then takes its place.
    streams.emplace_back([port = console_->port(), &bob] {
      std::string told = "HTTP/1.1 429";
      while (absl::StartsWith(told, "HTTP/1.1 429")) {
        told = AskOverTls(port, bob,
                          "POST /api/tapedeck.v1.NodeService/WatchStats HTTP/1.1\r\nHost: node\r\n"
                          "Content-Type: application/json\r\nContent-Length: 2\r\n"
                          "Accept: text/event-stream\r\nConnection: close\r\n\r\n{}");
      }
    });
  }
  const absl::Time end = dataplane::SteadyTime() + identity::kPatience;
  std::string answer;
  while (!absl::StartsWith(answer, "HTTP/1.1 429") && dataplane::SteadyTime() < end) {
    answer = Post(bob, kListLuns, "{}");
  }
  EXPECT_THAT(answer, HasSubstr("LIMIT_REACHED"));
  EXPECT_THAT(Post(Issue("root"), kListLuns, "{}"), StartsWith("HTTP/1.1 200"));
  console_.reset();
  for (std::thread& stream : streams) stream.join();
}

TEST_F(CallersTest, ARevokedCertificateMayNothing) {
  const TlsFiles root = Issue("root");
  EXPECT_THAT(Post(root, kListLuns, "{}"), StartsWith("HTTP/1.1 200"));
  const std::string serial =
      identity::SerialOf(files::ReadText(root.cert, identity::kMaxTlsFileBytes).value()).value();
  server_.authority().Write("policy.yaml", absl::StrCat(kPolicy, "revoked: ['", serial, "']\n"));
  std::string answer;
  const absl::Time end = dataplane::SteadyTime() + identity::kPatience;
  while (dataplane::SteadyTime() < end && !absl::StartsWith(answer, "HTTP/1.1 403")) {
    answer = Post(root, kListLuns, "{}");
  }
  EXPECT_THAT(answer, HasSubstr("is revoked"));
}

TEST_F(CallersTest, AWorkerHearsForWhomItIs) {
  EXPECT_THAT(Post(Issue("ann"), kStartRecord, kAnns), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(worker_.jobs().last_record().transfer.caller, "spiffe://lab/ann");
  EXPECT_THAT(Post(Issue("bob"), kStartRecord, kAnns),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("spiffe://lab/bob")));
  // The worker's own policy counts, too.
  worker_.authority().Write("worker.yaml", kPolicy);
  std::string answer;
  const absl::Time end = dataplane::SteadyTime() + identity::kPatience;
  while (dataplane::SteadyTime() < end && !absl::StartsWith(answer, "HTTP/1.1 403")) {
    answer = Post(Issue("ann"), kStartRecord, kAnns);
  }
  EXPECT_THAT(answer, HasSubstr("server may not call for others"));
}

TEST_F(CallersTest, NewFilesCountForNewConnections) {
  const TlsFiles ann = Issue("ann");
  const Authority other;
  // The node believes another authority from now on, and has a certificate of it.
  const TlsFiles fresh = other.Issue("server", "IP:127.0.0.1");
  for (const auto& [name, from] :
       {std::pair("server.pem", fresh.cert), {"server.key", fresh.key}, {"ca.pem", fresh.ca}}) {
    server_.authority().Write(name, files::ReadText(from, identity::kMaxTlsFileBytes).value());
  }
  const TlsFiles bob = other.Issue("bob", AsUri("bob"));
  std::string answer;
  const absl::Time end = dataplane::SteadyTime() + identity::kPatience;
  while (dataplane::SteadyTime() < end && answer.empty()) answer = About(bob);
  EXPECT_THAT(answer, HasSubstr(R"("identity":"spiffe://lab/bob")"));
  EXPECT_THAT(About(TlsFiles{.cert = ann.cert, .key = ann.key, .ca = fresh.ca}), IsEmpty());
}

}  // namespace
}  // namespace tapedeck::services::console
