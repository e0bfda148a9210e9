// --check-config says all that a start would refuse, and changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "services/base/process/daemon.h"
#include "storage_node/settings.h"
#include "tests/services/base/config/daemons.h"
#include "tests/services/rpc/identity/authority.h"

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
  const std::string devices = GetParam() == NodeRole::kWorker ? ", 1 device" : "";
  EXPECT_EQ(Check({}).status, 0) << Check({}).err;
  EXPECT_EQ(Check({}).out, absl::StrCat("configuration is sound: 1 rail", devices, "\n"));
  const Outcome outcome = Check(With(files_, policy_));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 certificate, 1 policy"));
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
  for (const char* rail : {"r1=tcp:192.0.2.1", "r1=auto:192.0.2.1", "r1=ipc:192.0.2.1"}) {
    ExpectWrong({"--rail", rail}, "192.0.2.1");
  }
}

TEST_P(LookTest, AllOfThemAreSaid) {
  const std::string none = authority_.directory() + "/none.pem";
  const Outcome outcome =
      Check(With({.cert = none, .key = files_.key, .ca = files_.ca}, none + ".yaml"));
  EXPECT_THAT(outcome.err, HasSubstr("none.pem:"));
  EXPECT_THAT(outcome.err, HasSubstr("none.pem.yaml"));
}

TEST_P(LookTest, EachFaultOfOnePartIsSaid) {
  const std::string cert = authority_.directory() + "/none.pem";
  const std::string ca = authority_.directory() + "/none-ca.pem";
  const std::string wrong = authority_.Write(
      "two.yaml",
      "rules:\n- {identities: [ann], resources: ['luns/*']}\n"
      "- {identities: [bob], role: admin, resources: ['nodes']}\nrevoked: ['zz']\n");
  const Outcome outcome = Check(With({.cert = cert, .key = files_.key, .ca = ca}, wrong));
  for (const char* text : {"none.pem", "none-ca.pem", "two.yaml:2", "two.yaml:3", "two.yaml:4"}) {
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
  // What is wrong with the settings themselves goes beside it.
  const Outcome both = Check({"--rail", "r0=tcp:127.0.0.1", "--rail-tls", "on", "--tls-cert", cert,
                              "--tls-key", files_.key, "--tls-ca", files_.ca});
  EXPECT_THAT(both.err, HasSubstr("none.pem"));
  EXPECT_THAT(both.err, HasSubstr("rail r0 is given twice"));
}

TEST_P(LookTest, TheStateDirectoryCanBeUsed) {
  ExpectWrong({"--state", policy_}, "is not a directory");
  ExpectWrong({"--state", authority_.directory() + "/a/b"}, "it cannot be made");
}

TEST_P(LookTest, DirectoriesAreThere) {
  const std::string none = authority_.directory() + "/none";
  const bool storage = GetParam() == NodeRole::kStorage;
  const std::string option = storage ? "--member-root" : "--file-root";
  const std::string way = storage ? "" : "read:";
  // It may be mounted later: a start goes on.
  const Outcome later = Check({option, way + none});
  EXPECT_EQ(later.status, 0);
  EXPECT_THAT(later.err, HasSubstr(absl::StrCat("warning: ", option, " ", none)));
  EXPECT_EQ(Check({option, way + authority_.directory()}).err, "");
  if (storage) ExpectWrong({option, "/proc"}, "--member-root /proc: the kernel's own files");
}

TEST(StorageLook, TheListOfLunsIsRead) {
  const Authority authority;
  const std::string state = authority.directory() + "/old";
  fs::create_directories(state + "/luns");
  std::ofstream(state + "/luns/l.json") << "{";
  std::ofstream(state + "/luns/m.json") << "[";
  const std::vector<std::string> line = {"--check-config", "--state", state, "--rail",
                                         "r0=tcp:127.0.0.1"};
  const Outcome outcome = ParseAs(NodeRole::kStorage, line, Named::kLookedAt);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/luns/l.json"));
  EXPECT_THAT(outcome.err, HasSubstr("/luns/m.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(state), fs::directory_iterator()), 1);
  fs::remove_all(state + "/luns");
  EXPECT_EQ(ParseAs(NodeRole::kStorage, line, Named::kLookedAt).status, 0);
  // A catalog that a start does not open.
  std::ofstream(state + "/catalog.sqlite") << std::string(100, 'x');
  EXPECT_THAT(ParseAs(NodeRole::kStorage, line, Named::kLookedAt).err,
              HasSubstr("--rebuild-catalog"));
  std::string later = std::string("SQLite format 3") + std::string(85, '\0');
  later[63] = 99;
  std::ofstream(state + "/catalog.sqlite") << later;
  EXPECT_THAT(ParseAs(NodeRole::kStorage, line, Named::kLookedAt).err,
              HasSubstr("format version 99"));
}

// systemd does not start it again after 2.
TEST(StartLook, AStartThatNewSettingsAloneMendEndsWithTwo) {
  const Authority authority;
  storage_node::Settings settings{.state = authority.directory() + "/state",
                                  .rails = {"r0=tcp:192.0.2.1"}};
  EXPECT_EQ(RefusedToStart("node", storage_node::LookBeforeStart(settings)), 1) << "it may come";
  settings.identity.policy = authority.Write("wrong.yaml", "rules: []");
  EXPECT_EQ(RefusedToStart("node", storage_node::LookBeforeStart(settings)), 2);
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
