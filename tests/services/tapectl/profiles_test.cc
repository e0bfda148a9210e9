// Profiles as users write them: which value counts, and what is refused.
#include "services/tapectl/program/profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/services/loopback_node.h"
#include "tests/services/tapectl/process.h"

namespace tapedeck::services::tapectl {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ProfilesTest : public ::testing::Test {
 protected:
  ProfilesTest()
      : home_(absl::StrCat(testing::TempDir(), "profiles.", getpid())),
        file_(home_ + "/tapedeck/profiles.yaml") {
    std::filesystem::create_directories(home_ + "/tapedeck");
    setenv("XDG_CONFIG_HOME", home_.c_str(), 1);
  }
  ~ProfilesTest() override {
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("TAPEDECK_STORAGE");
    unsetenv("TAPEDECK_PROFILE");
    std::filesystem::remove_all(home_);
  }

  void Write(const std::string& text) {
    std::ofstream(file_) << text;
    chmod(file_.c_str(), 0600);
  }
  // The status of a command that needs the storage node alone.
  int ListExit(std::vector<std::string> options) {
    options.insert(options.begin(), {"lun", "list"});
    return RunTapectl(options).exit_code;
  }
  void ExpectRefused(const std::string& why) {
    const Outcome outcome = RunTapectl({"lun", "list"});
    EXPECT_EQ(outcome.exit_code, 2) << why;
    EXPECT_THAT(outcome.err, HasSubstr(why));
  }

  const std::string home_;
  const std::string file_;
  LoopbackNode node_;
};

TEST_F(ProfilesTest, LineThenEnvironmentThenProfile) {
  const std::string here = node_.address;
  Write(absl::StrCat("default: here\nprofiles:\n  here:\n    storage: ", here,
                     "\n    output: json\n  gone: {storage: '127.0.0.1:1'}\n"));
  const Outcome listed = RunTapectl({"lun", "list"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_EQ(json::parse(listed.out)["luns"].size(), 0u) << "its output counts, too";
  EXPECT_EQ(ListExit({"--profile", "gone"}), 5);
  EXPECT_EQ(ListExit({"--profile", "gone", "--storage", here}), 0);
  EXPECT_EQ(ListExit({"--output", "table"}), 0);
  setenv("TAPEDECK_STORAGE", "127.0.0.1:1", 1);
  EXPECT_EQ(ListExit({}), 5) << "the environment comes before the profile";
  setenv("TAPEDECK_STORAGE", here.c_str(), 1);
  setenv("TAPEDECK_PROFILE", "gone", 1);
  EXPECT_EQ(ListExit({}), 0);
  EXPECT_EQ(ListExit({"--profile", "none"}), 0);
  const json all = json::parse(RunTapectl({"profiles", "--output", "json"}).out)["profiles"];
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["storage"], "127.0.0.1:1");
  EXPECT_EQ(all[1]["default"], true);
}

TEST_F(ProfilesTest, CertificatesLieBesideTheFile) {
  Write("profiles:\n  tls: {tls-cert: ann.pem, tls-key: /etc/ann.key, tls-ca: ../ca.pem}\n");
  const auto profiles = ReadProfiles(file_);
  ASSERT_TRUE(profiles.ok()) << profiles.status();
  const auto& options = profiles->all.at("tls").options;
  EXPECT_EQ(options.at("tls-cert"), home_ + "/tapedeck/ann.pem");
  EXPECT_EQ(options.at("tls-key"), "/etc/ann.key");
  EXPECT_EQ(options.at("tls-ca"), home_ + "/ca.pem");
  const Outcome outcome = RunTapectl({"lun", "list", "--profile", "tls"});
  EXPECT_THAT(outcome.err, HasSubstr("[TLS_UNUSABLE]"));
}

TEST_F(ProfilesTest, WhatIsWrongIsRefusedWithItsPlace) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"default: lab\n", "there is no profile \"lab\""},
           {"default: lab\nprofiles: {lap: {}}\n", "did you mean \"lap\"?"},
           {"profiles:\n  a:\n    storge: x\n", "profiles.yaml:3: profiles.a: there is no option"},
           {"profiles: {a: b}\n", "is not a map of options"},
           {"profiles: {a: {storage: [b]}}\n", "is not a single value"},
           {"default: a\nprofiles: {a: {output: xml}}\n", "profiles.yaml:2: output: "},
           {"profile: {}\n", "is neither"},
           {"- a\n", "is not a map"},
           {std::string(300 << 10, '#') + "\n", "has more than"}}) {
    Write(text);
    ExpectRefused(why);
  }
}

TEST_F(ProfilesTest, AFileThatOthersMayWriteIsRefused) {
  for (const mode_t mode : {0620, 0602}) {
    Write("profiles: {}\n");
    ASSERT_EQ(chmod(file_.c_str(), mode), 0);
    ExpectRefused("others may write it; chmod go-w ");
    EXPECT_EQ(RunTapectl({"profiles", "--help"}).exit_code, 0);
  }
  std::filesystem::remove(file_);
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  ExpectRefused("is not a regular file");
  std::filesystem::remove(file_);
  EXPECT_EQ(ListExit({"--storage", node_.address}), 0) << "there need be none";
  EXPECT_EQ(ListExit({"--profile", "lab"}), 2);
}

}  // namespace
}  // namespace tapedeck::services::tapectl
