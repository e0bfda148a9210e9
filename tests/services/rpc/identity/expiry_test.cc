// When the certificate ends and the policy was read, as the page of metrics has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "services/rpc/identity/security.h"
#include "services/rpc/identity/tls/expiry_watch.h"
#include "tests/services/rpc/identity/authority.h"

namespace tapedeck::services::identity {
namespace {

using ::testing::HasSubstr;

absl::Time EndOf(const TlsFiles& files) {
  return CheckTlsFiles(files, dataplane::WallTime())->expires;
}

std::string PageOf(const Security& security) {
  telemetry::Page page;
  security.AddMetrics(page);
  return page.Text();
}

TEST(ExpiryWatchTest, FollowsTheFilesAsLongAsTheyAreGood) {
  const Authority authority;
  const TlsFiles files = authority.Issue("node", "", 10);
  const auto watch = ExpiryWatch::Create(files, EndOf(files), absl::Milliseconds(1)).value();
  EXPECT_EQ(watch->expires(), EndOf(files));
  authority.Issue("node", "", 20);
  const absl::Time fresh = EndOf(files);
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  while (watch->expires() != fresh && dataplane::SteadyTime() < until)
    absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(watch->expires(), fresh);
  authority.Write("node.pem", "");
  EXPECT_EQ(watch->expires(), fresh);
}

TEST(SecurityMetricsTest, ShowTheCertificateAndThePolicy) {
  const Authority authority;
  const TlsFiles files = authority.Issue("node", "");
  const std::string policy = authority.Write("policy.yaml", "rules: none");
  const auto security = Security::Create("0.0.0.0:0", {.tls = files, .policy = policy}).value();
  EXPECT_THAT(PageOf(*security),
              HasSubstr(absl::StrCat("tapedeck_tls_certificate_expiry_timestamp_seconds ",
                                     absl::ToUnixSeconds(EndOf(files)))));
  EXPECT_THAT(PageOf(*security), HasSubstr("tapedeck_policy_loaded_timestamp_seconds "));
  EXPECT_THAT(PageOf(*security), HasSubstr("tapedeck_policy_last_reload_successful 1"));
  authority.Write("policy.yaml", "no: policy");
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  while (security->gate()->policy_fault().ok() && dataplane::SteadyTime() < until) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_THAT(PageOf(*security), HasSubstr("tapedeck_policy_last_reload_successful 0"));
}

TEST(SecurityMetricsTest, PlainTextHasNone) {
  EXPECT_EQ(PageOf(*Security::Create("127.0.0.1:0", {}).value()).find("tapedeck_tls"),
            std::string::npos);
}

}  // namespace
}  // namespace tapedeck::services::identity
