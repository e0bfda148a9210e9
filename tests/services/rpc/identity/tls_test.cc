// Connections with certificates: who is let in, by which name, and how new files are taken.
#include "services/rpc/identity/tls/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/jobs_client.h"
#include "tests/services/rpc/identity/secure_server.h"

namespace tapedeck::services::identity {
namespace {

using ::testing::HasSubstr;

constexpr char kPolicy[] =
    "rules:\n"
    "- {identities: ['spiffe://lab/root'], role: admin, resources: ['luns/*']}\n"
    "- {identities: ['spiffe://lab/ann'], role: operator, resources: [luns/a/channels/ann]}\n"
    "- {identities: ['spiffe://lab/worker'], role: worker, resources: ['luns/*']}\n";

absl::Status Ask(const client::Channel& channel) {
  return client::CatalogClient(channel, kPatience).ListLuns().status();
}

// Whom the server takes the caller for: it is told in what it refuses.
std::string NameOf(const client::Channel& channel) {
  const auto reason = ReasonOf(Ask(channel));
  return reason.has_value() ? reason->metadata.at("identity") : "";
}

TEST(TlsTest, TheNameIsTheUriElseTheDnsNameElseTheCommonName) {
  const SecureServer server("rules: none");
  const Authority& authority = server.authority();
  EXPECT_EQ(NameOf(server.ChannelWith(authority.Issue("a", "DNS:d,URI:spiffe://lab/a"))),
            "spiffe://lab/a");
  EXPECT_EQ(NameOf(server.ChannelWith(authority.Issue("b", "DNS:b.lab,DNS:c.lab"))), "b.lab");
  EXPECT_EQ(NameOf(server.ChannelWith(authority.Issue("c", ""))), "c");
  EXPECT_THAT(
      std::string(Ask(server.ChannelWith(authority.Issue("d", "", 30, "/O=lab"))).message()),
      HasSubstr("gives no identity"));
  EXPECT_THAT(
      std::string(Ask(server.ChannelWith(authority.Issue("e", "URI:a:1,URI:a:2"))).message()),
      HasSubstr("more than one URI"));
  EXPECT_THAT(std::string(Ask(server.ChannelWith(authority.Issue(
                                  "f", absl::StrCat("URI:a:", std::string(300, 'x')))))
                              .message()),
              HasSubstr("256"));
}

TEST(TlsTest, WithoutAGoodCertificateThereIsNoConnection) {
  const SecureServer server("");
  EXPECT_TRUE(Ask(server.ChannelOf("ann")).ok());
  EXPECT_TRUE(absl::IsUnavailable(Ask(client::MakeChannel(server.address()))));
  const Authority other;
  TlsFiles files = other.Issue("ann", "URI:spiffe://lab/ann");
  files.ca = server.authority().directory() + "/ca.pem";
  EXPECT_TRUE(absl::IsUnavailable(Ask(server.ChannelWith(files))));
  // The server is another's to the caller.
  files = server.authority().Issue("ann", "URI:spiffe://lab/ann");
  files.ca = other.directory() + "/ca.pem";
  EXPECT_TRUE(absl::IsUnavailable(Ask(server.ChannelWith(files))));
}

TEST(TlsTest, TheCertificateNamesTheHostWhateverAddressItIsCalledAt) {
  const SecureServer server("");
  const auto tls = Tls::Create(server.authority().Issue("ann", "URI:spiffe://lab/ann")).value();
  const std::string port = server.address().substr(server.address().rfind(':'));
  const auto ask = [&](const std::string& address) {
    return Ask(client::MakeChannel(address, {}, {.tls = tls}));
  };
  // It names 127.0.0.1 and nothing else.
  EXPECT_TRUE(ask("ipv4:127.0.0.1" + port).ok());
  EXPECT_TRUE(ask("127.0.0.1" + port + "@127.0.0.1").ok());
  EXPECT_TRUE(absl::IsUnavailable(ask("deck.lab.example" + port + "@127.0.0.1")));
}

TEST(TlsTest, AnExpiredCertificateIsRefusedByTheServer) {
  const SecureServer server("");
  const TlsFiles good = server.authority().Issue("ann", "URI:spiffe://lab/ann");
  const auto tls = Tls::Create(good).value();  // it is good then
  server.authority().Issue("ann", "URI:spiffe://lab/ann", -1);
  absl::Status status;
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  do {
    status = Ask(client::MakeChannel(server.address(), {}, {.tls = tls}));
  } while (status.ok() && dataplane::SteadyTime() < until);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST(TlsTest, NewFilesCountForNewConnections) {
  const SecureServer server("rules: none");
  const auto tls = Tls::Create(server.authority().Issue("ann", "URI:spiffe://lab/ann")).value();
  const auto connect = [&] { return client::MakeChannel(server.address(), {}, {.tls = tls}); };
  const client::Channel old = connect();
  EXPECT_EQ(NameOf(old), "spiffe://lab/ann");
  server.authority().Issue("ann", "URI:spiffe://lab/anna");
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  while (NameOf(connect()) == "spiffe://lab/ann" && dataplane::SteadyTime() < until) {
  }
  EXPECT_EQ(NameOf(connect()), "spiffe://lab/anna");
  EXPECT_EQ(NameOf(old), "spiffe://lab/ann");
}

TEST(TlsTest, ListsHaveWhatTheCallerMaySee) {
  SecureServer server(kPolicy);
  client::CatalogClient root(server.ChannelOf("root"), kPatience);
  client::CatalogClient ann(server.ChannelOf("ann"), kPatience);
  ASSERT_TRUE(root.CreateLun({.name = "luns/a", .store = "memory"}).ok());
  for (const char* name : {"luns/a/channels/ann", "luns/a/channels/bob"}) {
    Channel channel{.name = name, .block_bytes = 1 << 20, .datatype = "cf32_le"};
    const absl::Status made = root.CreateChannel(channel).status();
    ASSERT_TRUE(made.ok()) << made;
  }
  EXPECT_EQ(root.ListLuns()->size(), 1u);
  EXPECT_EQ(root.ListChannels("luns/-")->size(), 2u);
  EXPECT_EQ(ann.ListLuns()->size(), 0u);
  const auto channels = ann.ListChannels("luns/-");
  ASSERT_EQ(channels->size(), 1u);
  EXPECT_EQ(channels->front().name, "luns/a/channels/ann");
}

TEST(TlsTest, JobsAreOfWhoeverMaySeeTheirChannel) {
  SecureServer server(kPolicy);
  client::JobsClient root(server.ChannelOf("root"), kPatience);
  client::JobsClient ann(server.ChannelOf("ann"), kPatience);
  const auto start = [](client::JobsClient& jobs, const std::string& channel) {
    return jobs.StartRecord(
        {.transfer = {.storage = "127.0.0.1:1", .target = channel}, .source = StageSpec{"synth"}});
  };
  const auto anns = start(ann, "luns/a/channels/ann");
  ASSERT_TRUE(anns.ok()) << anns.status();
  EXPECT_EQ(server.jobs().last_transfer().caller, "spiffe://lab/ann");
  const auto roots = start(root, "luns/a/channels/endless");
  ASSERT_TRUE(roots.ok()) << roots.status();
  EXPECT_TRUE(absl::IsPermissionDenied(start(ann, "luns/a/channels/bob").status()));
  EXPECT_EQ(root.ListJobs()->size(), 2u);
  EXPECT_EQ(ann.ListJobs()->size(), 1u);
  EXPECT_TRUE(ann.GetJob(anns->name).ok());
  // What she may not see is not told from what is not there.
  EXPECT_TRUE(absl::IsNotFound(ann.GetJob(roots->name).status()));
  EXPECT_TRUE(absl::IsNotFound(ann.CancelJob(roots->name).status()));
}

TEST(TlsTest, ASecondOutputNeedsTheSameRights) {
  SecureServer server(kPolicy);
  client::JobsClient root(server.ChannelOf("root"), kPatience);
  client::JobsClient ann(server.ChannelOf("ann"), kPatience);
  const RecordSpec both{.transfer = {.storage = "127.0.0.1:1", .target = "luns/a/channels/ann"},
                        .source = StageSpec{"synth"},
                        .outputs = {{.channel = "luns/a/channels/bob"}}};
  EXPECT_TRUE(absl::IsPermissionDenied(ann.StartRecord(both).status()));
  EXPECT_TRUE(root.ListJobs()->empty());
  const auto roots = root.StartRecord(both);
  ASSERT_TRUE(roots.ok()) << roots.status();
  EXPECT_EQ(ann.ListJobs()->size(), 0u);
  EXPECT_TRUE(absl::IsNotFound(ann.GetJob(roots->name).status()));
  EXPECT_TRUE(absl::IsNotFound(ann.CancelJob(roots->name).status()));
  EXPECT_TRUE(root.CancelJob(roots->name).ok());
}

TEST(TlsTest, OnlyAWorkerCallsForOthers) {
  SecureServer server(kPolicy);
  client::CatalogClient worker(server.ChannelOf("worker", "spiffe://lab/ann"), kPatience);
  client::CatalogClient root(server.ChannelOf("root", "spiffe://lab/ann"), kPatience);
  EXPECT_TRUE(absl::IsNotFound(worker.GetChannel("luns/a/channels/ann").status()));
  EXPECT_TRUE(absl::IsPermissionDenied(worker.GetChannel("luns/a/channels/bob").status()));
  EXPECT_TRUE(absl::IsPermissionDenied(root.GetChannel("luns/a/channels/ann").status()));
}

// A figure for people: the machine may be busy.
TEST(TlsTest, PrintsHowManyCallsASecond) {
  const SecureServer server(
      "rules: [{identities: ['spiffe://lab/ann'], role: viewer, resources: ['luns/*']}]\n"
      "limits: {calls_per_second_per_identity: 1000000}\n");
  client::CatalogClient ann(server.ChannelOf("ann"), kPatience);
  const absl::Time begin = dataplane::SteadyTime();
  int calls = 0;
  while (dataplane::SteadyTime() - begin < absl::Milliseconds(300)) {
    ASSERT_TRUE(ann.ListLuns().ok());
    ++calls;
  }
  std::printf("%.0f calls a second of one caller\n",
              calls / absl::ToDoubleSeconds(dataplane::SteadyTime() - begin));
}

TEST(SecurityTest, PlainTextIsForThisMachineAlone) {
  EXPECT_TRUE(Security::Create("127.0.0.1:0", {}).ok());
  EXPECT_TRUE(Security::Create("localhost:0", {}).ok());
  EXPECT_TRUE(Security::Create("[::1]:0", {}).ok());
  for (const char* listen : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
    const auto refused = Security::Create(listen, {});
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--insecure")) << listen;
    const auto exposed = Security::Create(listen, {.insecure = true});
    ASSERT_TRUE(exposed.ok());
    doctor::Findings findings;
    (*exposed)->DoctorCheck({}).run({}, findings);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings.front().code, "PLAIN_TEXT");
  }
}

TEST(SecurityTest, TheDoctorLooksAtTheFilesAsTheyAreNow) {
  const Authority authority;
  const TlsFiles files = authority.Issue("node", "", 10);
  const auto security = Security::Create("0.0.0.0:0", {.tls = files});
  ASSERT_TRUE(security.ok()) << security.status();
  const auto code = [&] {
    doctor::Findings findings;
    (*security)->DoctorCheck({}).run({}, findings);
    return findings.empty() ? "" : findings.front().code;
  };
  EXPECT_EQ(code(), "TLS_EXPIRES_SOON");
  authority.Issue("node", "", 30);
  EXPECT_EQ(code(), "");
  authority.Write("node.pem", "");
  EXPECT_EQ(code(), "TLS_UNUSABLE");
}

TEST(SecurityTest, TheDoctorNotesBlocksThatLeaveTheMachineInClear) {
  const Authority authority;
  const auto security = Security::Create("0.0.0.0:0", {.tls = authority.Issue("node", "", 30)});
  ASSERT_TRUE(security.ok()) << security.status();
  doctor::Findings findings;
  (*security)
      ->DoctorCheck(
          {{.rail = {.name = "r0", .transport = "tcp", .address = "127.0.0.1"}},
           {.rail = {.name = "r1", .transport = "tcp", .address = "192.0.2.1"}},
           {.rail = {.name = "r2", .transport = "tcp", .address = "192.0.2.2", .tls = true}},
           {.rail = {.name = "r3", .transport = "verbs", .address = "192.0.2.3"}}})
      .run({}, findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().code, "RAIL_IN_CLEAR");
  EXPECT_EQ(findings.front().severity, doctor::Severity::kNote);
  EXPECT_THAT(findings.front().what, HasSubstr("r1 (192.0.2.1)"));
}

}  // namespace
}  // namespace tapedeck::services::identity
