// Patterns, rules, and the file that they stand in.
#include "services/rpc/identity/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "services/rpc/identity/address_patterns.h"
#include "services/rpc/identity/policy_file.h"
#include "tests/services/rpc/identity/authority.h"

namespace tapedeck::services::identity {
namespace {

using ::testing::HasSubstr;

constexpr char kChannel[] = "luns/a/channels/c";
constexpr char kRecording[] = "luns/a/channels/c/recordings/r";

Place On(absl::string_view resource) { return {Scope::kResource, resource}; }

TEST(GlobTest, StarsStayWithinTheirPart) {
  EXPECT_TRUE(Matches("spiffe://lab/*", "spiffe://lab/ann"));
  EXPECT_FALSE(Matches("spiffe://lab/*", "spiffe://lab/ann/x"));
  EXPECT_FALSE(Matches("*", "spiffe://lab/ann"));
  EXPECT_TRUE(Matches("**", "spiffe://lab/ann"));
  EXPECT_TRUE(Matches("spiffe://**/ann", "spiffe://lab/x/ann"));
  EXPECT_TRUE(Matches("a*b*c", "abbc"));
  EXPECT_FALSE(Matches("a*b*c", "abbd"));
  EXPECT_FALSE(Matches("", "a"));
  EXPECT_FALSE(Matches("ann", "ann2"));
}

TEST(PolicyTest, WhatNoRuleAllowsIsRefused) {
  const Policy policy({{{"ann"}, Role::kOperator, {kChannel}, 2},
                       {{"ann", "bob"}, Role::kViewer, {"luns/*"}, 5},
                       {{"w*"}, Role::kWorker, {"luns/a"}, 8}},
                      {});
  EXPECT_EQ(policy.On("ann", On(kRecording)).role, Role::kOperator);
  EXPECT_EQ(policy.On("ann", On(kRecording)).line, 2);
  EXPECT_EQ(policy.On("ann", On("luns/a")).role, Role::kViewer);
  EXPECT_EQ(policy.On("bob", On(kChannel)).role, Role::kViewer);
  EXPECT_EQ(policy.On("eve", On(kChannel)).role, Role::kNone);
  EXPECT_EQ(policy.On("eve", {Scope::kSome}).role, Role::kNone);
  EXPECT_EQ(policy.On("ann", {Scope::kSome}).role, Role::kOperator);
  EXPECT_EQ(policy.On("ann", {Scope::kAll}).role, Role::kViewer);
  EXPECT_TRUE(policy.On("w0", On(kRecording)).worker);
  EXPECT_FALSE(policy.On("w0", On("luns/b/channels/c")).worker);
  EXPECT_FALSE(policy.On("w0", {Scope::kAll}).worker);
}

TEST(PolicyTest, AChannelsPatternIsNotItsLun) {
  const Policy policy({{{"ann"}, Role::kAdmin, {"luns/a/channels/ann-*"}}}, {});
  EXPECT_EQ(policy.On("ann", On("luns/a/channels/ann-1")).role, Role::kAdmin);
  EXPECT_EQ(policy.On("ann", On("luns/a/channels/bob-1")).role, Role::kNone);
  EXPECT_EQ(policy.On("ann", On("luns/a")).role, Role::kNone);
}

// What is wrong with a file that has this text.
std::string Wrong(const std::string& text) {
  const Authority directory;
  const auto policy = ReadPolicy(directory.Write("policy.yaml", text));
  EXPECT_FALSE(policy.ok()) << text;
  return std::string(policy.status().message());
}

std::string WithRule(const std::string& identities, const std::string& role,
                     const std::string& resources) {
  return absl::StrCat("rules:\n- identities: ", identities, "\n  role: ", role,
                      "\n  resources: ", resources, "\n");
}

TEST(PolicyFileTest, ReadsRulesAndLimits) {
  const Authority directory;
  const auto policy =
      ReadPolicy(directory.Write("policy.yaml", WithRule("[ann]", "player", "[luns/*/channels/*]") +
                                                    "limits: {sessions_per_identity: 2}\n"));
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ((*policy)->On("ann", On(kChannel)).role, Role::kPlayer);
  EXPECT_EQ((*policy)->On("ann", On(kChannel)).line, 2);
  EXPECT_EQ((*policy)->limits().sessions, 2u);
  EXPECT_EQ((*policy)->limits().calls_per_second, IdentityLimits().calls_per_second);
}

TEST(PolicyFileTest, NoRulesAreWrittenAsSuch) {
  const Authority directory;
  const auto policy = ReadPolicy(directory.Write("policy.yaml", "rules: none\n"));
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ((*policy)->On("ann", {Scope::kSome}).role, Role::kNone);
}

TEST(PolicyFileTest, SaysWhereItIsWrong) {
  EXPECT_THAT(Wrong("rules: []\nrulez: []\n"), HasSubstr("policy.yaml:2"));
  EXPECT_THAT(Wrong(WithRule("[ann]", "emperor", "[luns/*]")), HasSubstr("policy.yaml:3"));
  EXPECT_THAT(Wrong("rules:\n- identities: [ann]\n  resources: [luns/*]\n"), HasSubstr("no role"));
  EXPECT_THAT(Wrong(WithRule("[]", "viewer", "[luns/*]")), HasSubstr("rules[0].identities"));
  EXPECT_THAT(Wrong(WithRule("[ann]", "viewer", "[luns/a, jobs/*]")),
              HasSubstr("policy.yaml:4: rules[0].resources[1]"));
  EXPECT_THAT(Wrong(WithRule("[ann]", "viewer", "[luns/**]")), HasSubstr("is not luns/PATTERN"));
  EXPECT_THAT(Wrong(std::string(kMaxPolicyBytes + 1, '#')), HasSubstr("65536"));
  std::string many = "rules:\n";
  for (size_t i = 0; i <= kMaxPolicyRules; ++i) {
    absl::StrAppend(&many, "- {identities: [a], role: viewer, resources: [luns/a]}\n");
  }
  for (const std::string empty :
       {"", "\n", "~", "rules: []\n", "rules: \"none\"\n", "revoked: [\"1\"]\n"}) {
    EXPECT_FALSE(Wrong(empty).empty());
  }
  EXPECT_THAT(Wrong(""), HasSubstr("write 'rules: none'"));
  EXPECT_FALSE(ReadPolicy("/nowhere/policy.yaml").ok());
  EXPECT_THAT(Wrong(many), ::testing::AnyOf(HasSubstr("1024"), HasSubstr("bytes")));
}

}  // namespace
}  // namespace tapedeck::services::identity
