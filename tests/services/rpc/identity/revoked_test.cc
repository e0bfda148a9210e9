// Serial numbers of certificates, and what becomes of those that a policy revokes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/now.h"
#include "services/base/files/input_file.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/gate.h"
#include "services/rpc/identity/policy.h"
#include "services/rpc/identity/policy_file.h"
#include "tests/services/rpc/identity/secure_server.h"

namespace tapedeck::services::identity {
namespace {

using ::testing::HasSubstr;

constexpr char kRules[] = "rules: [{identities: [ann], role: operator, resources: ['luns/*']}]\n";

std::string CertificateOf(const TlsFiles& files) {
  return files::ReadText(files.cert, kMaxTlsFileBytes).value();
}

std::string PolicyWithout(const std::string& serial) {
  return absl::StrCat(kRules, "revoked: [\"", serial, "\"]\n");
}

TEST(SerialTest, AsPeopleWriteThem) {
  EXPECT_EQ(ParseSerial("0a:1B:2c").value(), "A1B2C");
  EXPECT_EQ(ParseSerial("00").value(), "0");
  EXPECT_EQ(ParseSerial(std::string(40, 'f')).value(), std::string(40, 'F'));
  for (const std::string& wrong : {std::string(), std::string("0x1"), std::string("-1"),
                                   std::string(":"), std::string(41, 'f')}) {
    EXPECT_FALSE(ParseSerial(wrong).ok()) << wrong;
  }
}

TEST(SerialTest, OfACertificate) {
  const Authority authority;
  const std::string certificate = CertificateOf(authority.Issue("ann", ""));
  EXPECT_EQ(SerialOf(certificate).value(), SerialOf(certificate).value());
  EXPECT_NE(SerialOf(certificate).value(),
            SerialOf(CertificateOf(authority.Issue("ann", ""))).value());
  EXPECT_FALSE(SerialOf("ann").ok());
}

TEST(RevokedTest, AWrongSerialIsNamed) {
  const Authority authority;
  const auto wrong = ReadPolicy(authority.Write("policy.yaml", PolicyWithout("ann")));
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("policy.yaml:2"));
}

TEST(RevokedTest, ThatCertificateMayNothingMoreAndItsSessionEnds) {
  const Authority authority;
  const std::string lost = CertificateOf(authority.Issue("ann", ""));
  const std::string fresh = CertificateOf(authority.Issue("ann", ""));
  const auto gate = Gate::Create({.policy = authority.Write("policy.yaml", kRules)}).value();
  const auto right = [&](const std::string& certificate) {
    return gate->Admit({.peer = "ann", .acting_for = "", .certificate = certificate}, kRecordRight,
                       "luns/a");
  };
  EXPECT_TRUE(right(lost).ok());
  absl::Notification ended;
  absl::Status why;
  const auto losers =
      gate->Open({"ann", "", lost}, kRecordRight, "luns/a", [&](const auto& status) {
        why = status;
        ended.Notify();
      });
  const auto others = gate->Open({"ann", "", fresh}, kRecordRight, "luns/a",
                                 [](const auto& status) { ADD_FAILURE() << status; });
  ASSERT_TRUE(losers.ok() && others.ok());
  authority.Write("policy.yaml", PolicyWithout(SerialOf(lost).value()));
  ASSERT_TRUE(dataplane::AwaitFor(ended, kPatience));
  EXPECT_TRUE(IsAccessDenied(why)) << why;
  EXPECT_THAT(std::string(why.message()), HasSubstr("revoked"));
  EXPECT_FALSE(right(lost).ok());
  EXPECT_TRUE(right(fresh).ok());
  EXPECT_FALSE(right("").ok());  // of which nothing is known
}

TEST(RevokedTest, OpenHealthIsClosedToIt) {
  const Authority authority;
  const std::string lost = CertificateOf(authority.Issue("ann", ""));
  const auto gate =
      Gate::Create({.policy = authority.Write("policy.yaml", PolicyWithout(*SerialOf(lost))),
                    .open_health = true})
          .value();
  const Right& check = *FindRight("grpc.health.v1.Health", "Check");
  EXPECT_FALSE(gate->Admit({"ann", "", lost}, check, "").ok());
}

TEST(RevokedTest, TheCertificateOfAConnectionIsKnown) {
  const SecureServer server(kRules);
  const TlsFiles files = server.authority().Issue("ann", "");
  const std::string serial = SerialOf(CertificateOf(files)).value();
  client::CatalogClient ann(server.ChannelWith(files), kPatience);
  EXPECT_TRUE(ann.ListLuns().ok());
  server.authority().Write("policy.yaml", PolicyWithout(serial));
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  absl::Status status;
  do {
    absl::SleepFor(absl::Milliseconds(5));  // within the limit of calls
    status = ann.ListLuns().status();
  } while (status.ok() && dataplane::SteadyTime() < until);
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
}

}  // namespace
}  // namespace tapedeck::services::identity
