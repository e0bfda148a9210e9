// Every sentence of the verbs room says what to do, carries a reason, and stands in its README word
// for word.

#include "dataplane/transport/verbs/port/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/transport/verbs/port/address.h"
#include "dataplane/transport/verbs/port/limits.h"
#include "tests/shared_data.h"

namespace tapedeck::dataplane::verbs {
namespace {

const PortName kPort{.rail = "r0", .address = "10.0.0.1", .device = "rxe0", .port = 1};

std::string ReadmeInOneLine() {
  std::ifstream file(TreeFile("dataplane/transport/verbs/README.md"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The sentence is in the README, and the reason in the same table row.
void ExpectDocumented(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  ASSERT_TRUE(reason.has_value()) << status;
  const std::string readme = ReadmeInOneLine();
  std::string message(status.message());
  // Behind a failed request stand its status and the vendor's code.
  if (absl::StrContains(message, ", vendor 0x")) message.resize(message.rfind(" ("));
  const size_t at = readme.find(message);
  ASSERT_NE(at, std::string::npos) << "not in the README: " << message;
  const std::string row =
      readme.substr(readme.rfind('\n', at) + 1, readme.find('\n', at) - readme.rfind('\n', at));
  EXPECT_TRUE(absl::StrContains(row, absl::StrCat("`", reason->reason, "`"))) << row;
}

TEST(VerbsDiagnosis, EverySentenceIsDocumented) {
  rlimit old{};
  getrlimit(RLIMIT_MEMLOCK, &old);
  rlimit low = old;
  low.rlim_cur = 65536;
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &low), 0);
  ExpectDocumented(RegistrationFailed("ibv_reg_mr", 67108864, false, ENOMEM));
  setrlimit(RLIMIT_MEMLOCK, &old);
  ExpectDocumented(RegistrationFailed("ibv_reg_mr", 67108864, true, EFAULT));
  ExpectDocumented(NoDevice("10.0.0.1", "rdma_bind_addr: No such device"));
  ExpectDocumented(NoRoceV2Gid(kPort, "fe80::1 (RoCEv2, index 0)"));
  ExpectDocumented(PortDown(kPort, IBV_PORT_DOWN));
  ExpectDocumented(DeviceGone(kPort));
  ExpectDocumented(PeerUnreachable(kPort, "10.0.0.9", "rdma_resolve_addr", ETIMEDOUT));
  ExpectDocumented(FullSizeLost(4096));
  ExpectDocumented(PeerBrokeIn());
  for (const ibv_wc_status status :
       {IBV_WC_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_ACCESS_ERR,
        IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_REM_OP_ERR,
        IBV_WC_FATAL_ERR}) {
    ExpectDocumented(CompletionFailed(status, 0));
  }
  EXPECT_TRUE(absl::StrContains(ReadmeInOneLine(), PathMtuWarning(1024)));
}

TEST(VerbsDiagnosis, TheTimesAreThoseOfTheLimits) {
  EXPECT_NEAR((kRetryCount + 1) * 4.096e-6 * (1 << kAckTimeout), 0.47, 0.005);
  EXPECT_THAT(std::string(CompletionFailed(IBV_WC_RETRY_EXC_ERR, 0).message()),
              testing::HasSubstr("0.47 s"));
  EXPECT_LT(kRetryCount, 7);  // 7 has no end on some ports
  EXPECT_LT(kRnrRetry, 7);
}

// The table of RoCEv2 over 25GbE: 3125 MB/s less 82 bytes per packet.
TEST(VerbsDiagnosis, WireLimits) {
  EXPECT_NEAR(WireLimitBytesPerS(25'000'000'000, 4096) / 1e6, 3063.6, 0.1);
  EXPECT_NEAR(WireLimitBytesPerS(25'000'000'000, 2048) / 1e6, 3004.7, 0.1);
  EXPECT_NEAR(WireLimitBytesPerS(25'000'000'000, 1024) / 1e6, 2893.3, 0.1);
  EXPECT_EQ(WireLimitBytesPerS(0, 4096), 0u);
  EXPECT_EQ(WireLimitBytesPerS(25'000'000'000, 0), 0u);
}

TEST(VerbsDiagnosis, PathMtuLossIsInPercent) {
  EXPECT_THAT(PathMtuWarning(1024), testing::HasSubstr("5.6 %"));
  EXPECT_EQ(PathMtuWarning(4096), "");
}

TEST(VerbsDiagnosis, PortSpeeds) {
  EXPECT_EQ(PortBitsPerS(32, 1), 25'000'000'000u);
  EXPECT_EQ(PortBitsPerS(32, 2), 100'000'000'000u);
  EXPECT_EQ(PortBitsPerS(0, 1), 0u);
  EXPECT_EQ(PortBitsPerS(32, 3), 0u);
}

TEST(VerbsDiagnosis, PathMtusAndBytes) {
  for (const uint32_t bytes : {256u, 512u, 1024u, 2048u, 4096u}) {
    EXPECT_EQ(MtuBytes(MtuOf(bytes)), bytes);
  }
  for (const uint32_t bytes : {0u, 1500u, 8192u, 0xffffffffu}) EXPECT_EQ(MtuOf(bytes), 0);
}

TEST(VerbsAddress, GidsAreAddresses) {
  for (const char* text : {"10.0.0.1", "fe80::1", "::1", "2001:db8::2"}) {
    EXPECT_EQ(SocketAddress(*GidOf(std::string(text))).ip(), text);
  }
  EXPECT_FALSE(GidOf(std::string("rxe0")).ok());
}

}  // namespace
}  // namespace tapedeck::dataplane::verbs
