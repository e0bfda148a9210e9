#include "services/rpc/identity/tls/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "dataplane/now.h"
#include "services/base/errors.h"
#include "tests/services/rpc/identity/authority.h"

namespace tapedeck::services::identity {
namespace {

using ::testing::HasSubstr;

// What is wrong, of files that are.
std::string Wrong(const TlsFiles& files, absl::Time now = dataplane::WallTime()) {
  const absl::Status status = CheckTlsFiles(files, now).status();
  const auto reason = ReasonOf(status);
  EXPECT_EQ(reason.has_value() ? reason->reason : "none", "TLS_UNUSABLE") << status;
  return std::string(status.message());
}

TEST(TlsFilesTest, GoodOnesTellTheirEnd) {
  const Authority authority;
  const TlsFiles files = authority.Issue("node", "IP:127.0.0.1", 10);
  const auto facts = CheckTlsFiles(files, dataplane::WallTime());
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_LT(facts->expires - dataplane::WallTime(), kExpirySoon);
  EXPECT_GT(facts->expires - dataplane::WallTime(), absl::Hours(24 * 9));
  EXPECT_FALSE(facts->key_readable_by_others);
  chmod(files.key.c_str(), 0644);
  EXPECT_TRUE(CheckTlsFiles(files, dataplane::WallTime())->key_readable_by_others);
}

TEST(TlsFilesTest, EachFileThatIsWrongIsNamed) {
  const Authority authority;
  const TlsFiles good = authority.Issue("node", "");
  const TlsFiles other = authority.Issue("other", "");
  TlsFiles files = good;
  files.ca = authority.directory() + "/none.pem";
  EXPECT_THAT(Wrong(files), HasSubstr("none.pem"));
  files.ca = authority.directory();
  EXPECT_THAT(Wrong(files), HasSubstr("not a regular file"));
  files.ca = authority.Write("text.pem", "hello");
  EXPECT_THAT(Wrong(files), HasSubstr("no certificate"));
  files = good;
  files.cert = good.key;
  EXPECT_THAT(Wrong(files), HasSubstr("no certificate"));
  files = good;
  files.key = good.cert;
  EXPECT_THAT(Wrong(files), HasSubstr("no private key"));
  files.key = other.key;
  EXPECT_THAT(Wrong(files), HasSubstr("is not the key of"));
  files.key = authority.Write("long.key", std::string(kMaxTlsFileBytes + 1, 'x'));
  EXPECT_THAT(Wrong(files), HasSubstr("1048576 bytes"));
}

TEST(TlsFilesTest, ExpiredAndNotYetValid) {
  const Authority authority;
  EXPECT_THAT(Wrong(authority.Issue("old", "", -1)), HasSubstr("expired"));
  EXPECT_THAT(Wrong(authority.Issue("new", ""), dataplane::WallTime() - absl::Hours(48)),
              HasSubstr("only from"));
}

}  // namespace
}  // namespace tapedeck::services::identity
