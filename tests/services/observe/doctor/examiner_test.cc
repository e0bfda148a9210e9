// The doctor of a node: what hangs is a finding and keeps nothing else from being told.
#include "services/observe/doctor/examiner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "absl/synchronization/notification.h"
#include "services/base/errors.h"

namespace tapedeck::services::doctor {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> CodesOf(const absl::StatusOr<Diagnosis>& diagnosis) {
  std::vector<std::string> codes;
  for (const Finding& finding : diagnosis.value().findings) {
    // What this machine itself is found to have is another matter.
    if (finding.what.starts_with("test")) codes.push_back(finding.code);
    if (finding.what.starts_with("the check of test")) codes.push_back(finding.code);
  }
  return codes;
}

Check Finds(const std::string& name, CodeId code) {
  return {.name = name, .run = [code](const Request&, Findings& findings) {
            findings.push_back(Found(code, "test"));
          }};
}

ExaminerParts With(std::vector<Check> checks, absl::Duration patience = absl::Seconds(60)) {
  return {.scene = std::make_shared<Scene>(),
          .others = [checks = std::move(checks)] { return checks; },
          .patience = patience};
}

TEST(DoctorExaminerTest, TheWorstFirst) {
  Examiner examiner(With({Finds("test 1", "HUGE_PAGES_OFF"), Finds("test 2", "NIC_HOT"),
                          Finds("test 3", "PORT_DOWN")}));
  EXPECT_THAT(CodesOf(examiner.Examine({})), ElementsAre("PORT_DOWN", "NIC_HOT", "HUGE_PAGES_OFF"));
}

TEST(DoctorExaminerTest, WhatHangsIsAFindingAndIsNotBegunAgain) {
  absl::Notification ends;
  std::atomic<int> begun = 0;
  Examiner examiner(With({{.name = "test that hangs",
                           .late = "LUN_NOT_RESPONDING",
                           .run =
                               [&](const Request&, Findings&) {
                                 ++begun;
                                 ends.WaitForNotification();
                               }},
                          Finds("test 2", "NIC_HOT")},
                         absl::Milliseconds(300)));
  EXPECT_THAT(CodesOf(examiner.Examine({})), ElementsAre("LUN_NOT_RESPONDING", "NIC_HOT"));
  EXPECT_THAT(CodesOf(examiner.Examine({})), ElementsAre("LUN_NOT_RESPONDING", "NIC_HOT"));
  EXPECT_EQ(begun, 1);
  ends.Notify();
}

TEST(DoctorExaminerTest, OneAtATimeAndNoneOnceStopped) {
  absl::Notification runs, ends;
  Examiner examiner(With({{.name = "test", .run = [&](const Request&, Findings&) {
                             runs.Notify();
                             ends.WaitForNotification();
                           }}}));
  std::thread first([&] { EXPECT_TRUE(examiner.Examine({}).ok()); });
  runs.WaitForNotification();
  const absl::Status second = examiner.Examine({}).status();
  ASSERT_TRUE(ReasonOf(second).has_value()) << second;
  EXPECT_EQ(ReasonOf(second)->reason, "LIMIT_REACHED");
  examiner.Stop();  // the first is answered, though its check goes on
  first.join();
  ends.Notify();
}

}  // namespace
}  // namespace tapedeck::services::doctor
