// --check-config says all that a start would refuse, and changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/services/config/daemons.h"
#include "tests/services/identity/authority.h"

namespace tapedeck::services::config {
namespace {

namespace fs = std::filesystem;
using identity::Authority;
using identity::TlsFiles;
using ::testing::HasSubstr;

constexpr char kPolicy[] = "rules: [{identities: [ann], role: admin, resources: ['luns/*']}]\n";

class LookTest : public testing::TestWithParam<NodeRole> {
 protected:
  // Of a node for which all is right, without the files of certificates and policy.
  std::vector<std::string> Line(const std::vector<std::string>& more) const {
    std::vector<std::string> line = {"--check-config", "--rail", "r0=tcp:127.0.0.1"};
    if (std::ranges::count(more, "--state") == 0) line.insert(line.end(), {"--state", state_});
    if (GetParam() == NodeRole::kWorker) line.insert(line.end(), {"--device", "host"});
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }
  Outcome Check(const std::vector<std::string>& more) const {
    const Outcome outcome = ParseAs(GetParam(), Line(more), Named::kLookedAt);
    EXPECT_FALSE(outcome.starts);
    EXPECT_FALSE(fs::exists(state_)) << "it changes nothing";
    return outcome;
  }
  void ExpectWrong(const std::vector<std::string>& more, const std::string& text) const {
    const Outcome outcome = Check(more);
    EXPECT_EQ(outcome.status, 2) << text;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
  static std::vector<std::string> With(const TlsFiles& files, const std::string& policy) {
    return {"--tls-cert", files.cert, "--tls-key", files.key,
            "--tls-ca",   files.ca,   "--policy",  policy};
  }

  const Authority authority_;
  const std::string state_ = authority_.directory() + "/state";
  const TlsFiles files_ = authority_.Issue("node", "DNS:localhost");
  const std::string policy_ = authority_.Write("policy.yaml", kPolicy);
};

TEST_P(LookTest, WhatIsRightIsRight) {
  EXPECT_EQ(Check({}).status, 0) << Check({}).err;
  const Outcome outcome = Check(With(files_, policy_));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_P(LookTest, EachFaultIsNamed) {
  const std::string none = authority_.directory() + "/none.pem";
  ExpectWrong(With({.cert = none, .key = files_.key, .ca = files_.ca}, policy_), none);
  const TlsFiles other = authority_.Issue("other", "DNS:localhost");
  ExpectWrong(With({.cert = files_.cert, .key = other.key, .ca = files_.ca}, policy_), other.key);
  ExpectWrong(With({.cert = files_.cert, .key = files_.key, .ca = policy_}, policy_), policy_);
  ExpectWrong(With(files_, none), none);
  for (const char* text : {"", "rules: []", "rules:", "revoked: ['zz']", "rules: &a []",
                           "rules: [{identities: [ann], role: ADMIN, resources: ['luns/*']}]"}) {
    const std::string wrong = authority_.Write("wrong.yaml", text);
    ExpectWrong(With(files_, wrong), "wrong.yaml");
  }
  ExpectWrong({"--rail", "r1=tcp:%none0"}, "no interface none0");
}

TEST_P(LookTest, AllOfThemAreSaid) {
  const std::string none = authority_.directory() + "/none.pem";
  const Outcome outcome =
      Check(With({.cert = none, .key = files_.key, .ca = files_.ca}, none + ".yaml"));
  EXPECT_THAT(outcome.err, HasSubstr("none.pem:"));
  EXPECT_THAT(outcome.err, HasSubstr("none.pem.yaml"));
}

TEST_P(LookTest, TheStateDirectoryCanBeUsed) {
  ExpectWrong({"--state", policy_}, "is no directory");
  ExpectWrong({"--state", authority_.directory() + "/a/b"}, "it cannot be made");
}

TEST_P(LookTest, DirectoriesAreThere) {
  const std::string none = authority_.directory() + "/none";
  if (GetParam() == NodeRole::kStorage) {
    ExpectWrong({"--member-root", none}, "--member-root " + none);
    EXPECT_EQ(Check({"--member-root", authority_.directory()}).status, 0);
  } else {
    ExpectWrong({"--file-root", "read:" + none}, "--file-root " + none);
  }
}

TEST(StorageLook, TheListOfLunsIsRead) {
  const Authority authority;
  const std::string state = authority.directory() + "/old";
  fs::create_directories(state + "/luns");
  std::ofstream(state + "/luns/l.json") << "{";
  const Outcome outcome =
      ParseAs(NodeRole::kStorage,
              {"--check-config", "--state", state, "--rail", "r0=tcp:127.0.0.1"}, Named::kLookedAt);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/luns/l.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(state), fs::directory_iterator()), 1);
}

// Elsewhere than where it is to run.
TEST_P(LookTest, PrintingLooksAtNoFile) {
  std::vector<std::string> line = Line(With({.cert = "/c", .key = "/k", .ca = "/a"}, "/p"));
  line[0] = "--print-config";
  const Outcome outcome = ParseAs(GetParam(), line, Named::kLookedAt);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("tls_cert: \"/c\""));
}

INSTANTIATE_TEST_SUITE_P(Nodes, LookTest, testing::Values(NodeRole::kStorage, NodeRole::kWorker),
                         [](const auto& info) {
                           return info.param == NodeRole::kStorage ? "storage" : "worker";
                         });

}  // namespace
}  // namespace tapedeck::services::config
