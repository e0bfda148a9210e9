// Who is let in, for whom a worker may ask, limits, and what a new policy changes.
#include "services/rpc/identity/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/tls/file_changes.h"
#include "tests/services/rpc/identity/authority.h"

namespace tapedeck::services::identity {
namespace {

using ::testing::HasSubstr;

constexpr char kAnns[] = "luns/a/channels/ann";
constexpr char kBobs[] = "luns/a/channels/bob";
std::string PolicyText(const std::string& role_of_bob) {
  return absl::StrCat(
      "rules:\n"
      "- {identities: [ann], role: operator, resources: [luns/a/channels/ann]}\n"
      "- {identities: [bob], role: ",
      role_of_bob,
      ", resources: [luns/a/channels/bob]}\n"
      "- {identities: [w0], role: worker, resources: [luns/a]}\n"
      "limits: {sessions_per_identity: 2, calls_per_second_per_identity: 10}\n");
}

std::string ReasonIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : std::string(status.message());
}

class GateTest : public testing::Test {
 protected:
  void New(const std::string& text) { directory_.Write("policy.yaml", text); }

  const Authority directory_;
  const std::string file_ = directory_.Write("policy.yaml", PolicyText("operator"));
  const std::unique_ptr<Gate> gate_ = Gate::Create({.policy = file_}).value();
};

TEST_F(GateTest, TenantsKeepToTheirOwn) {
  EXPECT_TRUE(gate_->Admit({"ann"}, kRecordRight, kAnns).ok());
  const absl::Status refused = gate_->Admit({"ann"}, kRecordRight, kBobs);
  EXPECT_TRUE(IsAccessDenied(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("operator"));
  EXPECT_FALSE(gate_->Admit({"eve"}, kSeeRight, kAnns).ok());
  EXPECT_FALSE(gate_->Admit({"ann"}, kSeeRight, "luns/a").ok());
}

TEST_F(GateTest, AWorkerAsksForOthersAndBothNeedARight) {
  EXPECT_TRUE(gate_->Admit({"w0", "ann"}, kRecordRight, kAnns).ok());
  EXPECT_THAT(std::string(gate_->Admit({"w0", "ann"}, kRecordRight, kBobs).message()),
              HasSubstr("ann may not record"));
  EXPECT_THAT(std::string(gate_->Admit({"bob", "ann"}, kRecordRight, kAnns).message()),
              HasSubstr("bob may not call for others"));
  // For itself it only looks.
  EXPECT_TRUE(gate_->Admit({"w0"}, kSeeRight, kAnns).ok());
  EXPECT_FALSE(gate_->Admit({"w0"}, kPlayRight, kAnns).ok());
}

TEST_F(GateTest, NamesThatNobodyCanHaveNeedARightOnAll) {
  EXPECT_FALSE(gate_->Admit({"ann"}, kSeeRight, "").ok());
  EXPECT_FALSE(gate_->Admit({"ann"}, kSeeRight, absl::StrCat(kAnns, "/..")).ok());
  New("rules: [{identities: [root], role: admin, resources: [luns/*]}]");
  const auto root = Gate::Create({.policy = file_}).value();
  EXPECT_TRUE(root->Admit({"root"}, kSeeRight, "").ok());
}

TEST_F(GateTest, WithoutAPolicyEverybodyMayDoEverything) {
  const auto gate = Gate::Create({}).value();
  for (const Right& right : {kRecordRight, *FindRight("tapedeck.v1.CatalogService/CreateLun")}) {
    EXPECT_TRUE(gate->Admit({"eve", "ann"}, right, "").ok());
  }
}

// A worker does not let itself be told for whom a call is, but by those that its policy names.
TEST_F(GateTest, WhereOthersAreCalledForByPolicyAloneNobodyElseIsBelieved) {
  const auto open = Gate::Create({.for_others = false}).value();
  EXPECT_EQ(ReasonIn(open->Admit({"w0", "ann"}, kRecordRight, kAnns)), "ACCESS_DENIED");
  EXPECT_TRUE(open->Admit({"ann"}, kRecordRight, kAnns).ok());
  const auto gate = Gate::Create({.policy = file_, .for_others = false}).value();
  EXPECT_TRUE(gate->Admit({"w0", "ann"}, kRecordRight, kAnns).ok());
  EXPECT_EQ(ReasonIn(gate->Admit({"bob", "ann"}, kRecordRight, kAnns)), "ACCESS_DENIED");
  EXPECT_EQ(ReasonIn(gate->Admit({"w0", "eve"}, kRecordRight, kAnns)), "ACCESS_DENIED");
}

TEST_F(GateTest, HealthIsOpenWhereThatWasAsked) {
  const Right& check = *FindRight("grpc.health.v1.Health", "Check");
  EXPECT_FALSE(gate_->Admit({"eve"}, check, "").ok());
  EXPECT_TRUE(gate_->Admit({"ann"}, check, "").ok());
  const auto open = Gate::Create({.policy = file_, .open_health = true}).value();
  EXPECT_TRUE(open->Admit({"eve"}, check, "").ok());
  EXPECT_FALSE(open->Admit({"eve"}, *FindRight("tapedeck.v1.NodeService", "GetNode"), "").ok());
}

TEST_F(GateTest, SessionsOfOneIdentityAreLimited) {
  const auto open = [&](const Caller& caller, const char* channel) {
    return gate_->Open(caller, kRecordRight, channel, [](const absl::Status&) {});
  };
  auto first = open({"ann"}, kAnns);
  auto second = open({"w0", "ann"}, kAnns);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(ReasonIn(open({"ann"}, kAnns).status()), "LIMIT_REACHED");
  EXPECT_TRUE(open({"bob"}, kBobs).ok());
  first->reset();
  EXPECT_TRUE(open({"ann"}, kAnns).ok());
}

TEST_F(GateTest, CallsOfOneIdentityAreLimited) {
  int taken = 0;
  while (taken < 1000 && gate_->Count("ann").ok()) ++taken;
  EXPECT_GE(taken, 20);  // two seconds' worth, and what this loop lasts
  EXPECT_LT(taken, 1000);
  EXPECT_EQ(ReasonIn(gate_->Count("ann")), "LIMIT_REACHED");
  EXPECT_TRUE(gate_->Count("bob").ok());
}

TEST_F(GateTest, ANewPolicyEndsWhoLostTheRightAndNobodyElse) {
  absl::Notification bob_lost;
  absl::Status why;
  const auto anns = gate_->Open({"w0", "ann"}, kRecordRight, kAnns,
                                [](const absl::Status& lost) { ADD_FAILURE() << lost; });
  const auto bobs = gate_->Open({"w0", "bob"}, kRecordRight, kBobs, [&](const absl::Status& lost) {
    why = lost;
    bob_lost.Notify();  // a second call would end the process
  });
  ASSERT_TRUE(anns.ok() && bobs.ok());
  New(PolicyText("viewer"));
  ASSERT_TRUE(dataplane::AwaitFor(bob_lost, kPatience));
  EXPECT_TRUE(IsAccessDenied(why)) << why;
  EXPECT_FALSE(gate_->Admit({"bob"}, kRecordRight, kBobs).ok());
  EXPECT_TRUE(gate_->Admit({"ann"}, kRecordRight, kAnns).ok());
}

TEST_F(GateTest, AWrongPolicyLeavesTheOldOneInForce) {
  New("rules: [{identities: [ann], rolle: admin}]");
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  while (gate_->policy_fault().ok() && dataplane::SteadyTime() < until)
    absl::SleepFor(absl::Milliseconds(5));
  EXPECT_THAT(std::string(gate_->policy_fault().message()), HasSubstr("policy.yaml:1"));
  EXPECT_TRUE(gate_->Admit({"ann"}, kRecordRight, kAnns).ok());
  New(PolicyText("operator"));
  while (!gate_->policy_fault().ok() && dataplane::SteadyTime() < until)
    absl::SleepFor(absl::Milliseconds(5));
  EXPECT_TRUE(gate_->policy_fault().ok());
}

// What an editor leaves for an instant, or a full disk for good.
TEST_F(GateTest, AnEmptyFileTakesNothingFromAnybody) {
  const auto anns = gate_->Open({"ann"}, kRecordRight, kAnns,
                                [](const absl::Status& lost) { ADD_FAILURE() << lost; });
  ASSERT_TRUE(anns.ok());
  New("");
  const absl::Time until = dataplane::SteadyTime() + kPatience;
  while (gate_->policy_fault().ok() && dataplane::SteadyTime() < until)
    absl::SleepFor(absl::Milliseconds(5));
  EXPECT_THAT(std::string(gate_->policy_fault().message()), HasSubstr("rules: none"));
  EXPECT_TRUE(gate_->Admit({"bob"}, kRecordRight, kBobs).ok());
}

// The first rules of a file that somebody is still writing are a policy by themselves.
TEST(TwoLooksTest, AFileThatStillGrowsIsNotTaken) {
  TwoLooks looks;
  EXPECT_FALSE(looks.Agree(std::string("rules:")));
  EXPECT_FALSE(looks.Agree(std::string("rules:\n- ann")));
  EXPECT_FALSE(looks.Agree(absl::NotFoundError("gone")));
  EXPECT_FALSE(looks.Agree(std::string("rules:\n- ann")));
  EXPECT_TRUE(looks.Agree(std::string("rules:\n- ann")));
  looks.Forget();
  EXPECT_FALSE(looks.Agree(std::string("rules:\n- ann")));
  EXPECT_FALSE(looks.Agree(absl::NotFoundError("gone")));
  EXPECT_TRUE(looks.Agree(absl::NotFoundError("gone")));
}

TEST(GateStartTest, AWrongPolicyIsNoStart) {
  const Authority directory;
  EXPECT_FALSE(Gate::Create({.policy = directory.Write("policy.yaml", "no: policy")}).ok());
  EXPECT_FALSE(Gate::Create({.policy = directory.Write("policy.yaml", "")}).ok());
  EXPECT_FALSE(Gate::Create({.policy = directory.directory() + "/none.yaml"}).ok());
}

}  // namespace
}  // namespace tapedeck::services::identity
