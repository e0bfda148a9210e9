// What tapectl advises beside an error: commands and options that the program itself has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/base/files/errors.h"
#include "services/model/recording/treatment.h"
#include "services/observe/doctor/codes.h"
#include "services/rpc/convert/values/status.h"
#include "services/tapectl/terminal/failure.h"
#include "tapedeck/v1/errors.pb.h"
#include "tapedeck/v1/reason_option.pb.h"
#include "tests/services/tapectl/programs_own.h"

namespace tapedeck::services::tapectl {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

std::vector<std::string> Split(absl::string_view text, absl::string_view by) {
  return absl::StrSplit(text, by);
}

// Holds what `text` names against the program. Its bare options are those of `command`; of none,
// they may be another program's. Returns how much it names.
int Check(const std::string& text, const std::string& command) {
  int named = 0;
  for (const std::string& part : Split(text, ";")) {
    const std::vector<std::string> words =
        absl::StrSplit(part, absl::ByAnyChar(" ,:()`"), absl::SkipEmpty());
    std::string now = absl::StrContains(part, "start the worker with") ? "" : command;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "tapectl") {
        now = CommandIn(words, i + 1);
        EXPECT_NE(now, "") << text;
        EXPECT_NE(now, command) << "has just failed: " << text;
      } else if (absl::StartsWith(words[i], "--") && !now.empty()) {
        EXPECT_TRUE(ProgramsOwn().at(now).contains(words[i]) ||
                    ProgramsOwn().at("").contains(words[i]))
            << now << " has no " << words[i] << ": " << text;
      } else {
        continue;
      }
      ++named;
    }
  }
  return named;
}

std::vector<std::string> Reasons() {
  std::vector<std::string> names;
  const auto* reasons = v1::ErrorReason_descriptor();
  for (int i = 1; i < reasons->value_count(); ++i) {
    names.push_back(reasons->value(i)->name().substr(strlen("ERROR_REASON_")));
  }
  return names;
}

TEST(RemediesTest, TheProgramHasWhatTheyName) {
  std::set<std::string> details = {""};
  for (const Remedy& remedy : Remedies()) details.emplace(remedy.metadata);
  std::set<absl::string_view> met;
  int named = 0;
  for (const auto& [command, options] : ProgramsOwn()) {
    if (command.empty()) continue;
    for (const std::string& name : Reasons()) {
      for (const std::string& detail : details) {
        const std::pair<std::string, std::string> entry =
            absl::StrSplit(detail, absl::MaxSplits('=', 1));
        const ErrorReason reason{name, {entry}};
        for (const Side side : {Side::kHere, Side::kNode}) {
          const absl::string_view text = RemedyOf(command, reason, side);
          if (met.insert(text).second || absl::StrContains(text, "--")) {
            named += Check(std::string(text), command);
          }
        }
      }
    }
  }
  EXPECT_GT(named, 500);
  for (const Remedy& remedy : Remedies()) {
    EXPECT_TRUE(met.contains(remedy.text)) << "nobody gets it: " << remedy.text;
    for (const std::string& command : remedy.commands) {
      EXPECT_THAT(ProgramsOwn(), Contains(Key(command)));
    }
  }
}

TEST(RemediesTest, OfTheDoctorAndOfRefusedKindsToo) {
  int named = 0;
  for (const auto& code : doctor::kCodes) named += Check(std::string(code.fix), "");
  EXPECT_GT(named, 5);
  named = 0;
  for (const auto& [use, command] : model::EnumNames<model::Use>::kTable) {
    const std::string own =
        ProgramsOwn().contains(std::string(command)) ? std::string(command) : "";
    for (const auto& [kind, word] : model::EnumNames<model::Kind>::kTable) {
      named += Check(std::string(model::TreatmentOf(use, kind).remedy), own);
    }
  }
  EXPECT_GT(named, 5);
}

TEST(RemediesTest, ThoseThatTextsSayToo) {
  int named = 0;
  const auto* reasons = v1::ErrorReason_descriptor();
  for (int i = 1; i < reasons->value_count(); ++i) {
    const auto& reason = reasons->value(i)->options().GetExtension(v1::reason);
    EXPECT_GT(reason.codes_size(), 0) << reasons->value(i)->name();
    EXPECT_NE(reason.remedy(), "") << reasons->value(i)->name();
    named += Check(reason.remedy(), "");
  }
  EXPECT_GT(named, 10);
}

std::string LineOf(const std::string& command, const absl::Status& status) {
  return FailureLine(command, status);
}

// As it comes from a node.
std::string LineOfNodes(const std::string& command, const absl::Status& status) {
  return LineOf(command, convert::FromGrpc(convert::ToGrpc(status)));
}

TEST(RemediesTest, WithoutMarks) {
  const absl::Status denied = WithReason(absl::PermissionDeniedError("no"), "ACCESS_DENIED");
  EXPECT_THAT(LineOf("record", denied), EndsWith("— ask for a role in the node's policy"));
  for (const Remedy& remedy : Remedies()) {
    EXPECT_EQ(remedy.text.find_first_of("`[]"), std::string::npos) << remedy.text;
  }
}

TEST(RemediesTest, AFileIsWhereItIs) {
  const absl::Status none = files::NotFound("/no/such/file", "open", ENOENT);
  const absl::Status there = files::Exists("/a/file");
  for (const char* command : {"record", "play", "receive", "jobs attach"}) {
    EXPECT_THAT(LineOfNodes(command, none), HasSubstr("on the worker's machine"));
    EXPECT_THAT(LineOf(command, none), HasSubstr("on this machine")) << command;
  }
  EXPECT_THAT(LineOf("recordings import", none), HasSubstr("on this machine that you may read"));
  EXPECT_THAT(LineOf("recordings export", none), HasSubstr("that you may write into"));
  EXPECT_THAT(LineOf("recordings export", there), Not(HasSubstr("--resume"))) << "it is complete";
  EXPECT_THAT(LineOf("manual", there), Not(HasSubstr("--")));
  EXPECT_THAT(LineOfNodes("play", there), HasSubstr("--replace"));
  EXPECT_THAT(LineOfNodes("jobs attach", there), Not(HasSubstr("--replace")));
}

TEST(RemediesTest, ADiskIsThatOfThePath) {
  const absl::Status failed = files::WriteFailed("/a/file", "pwrite", ENOSPC);
  EXPECT_THAT(LineOf("recordings export", failed), Not(HasSubstr("storage node")));
  EXPECT_THAT(LineOfNodes("play", failed), HasSubstr("of the node that has it"));
  EXPECT_THAT(LineOfNodes("recordings export", failed), HasSubstr("the storage node's log"));
}

TEST(RemediesTest, AFullLunIsHelpedInItsOrder) {
  const auto full = [](const char* key) {
    return LineOf("record",
                  WithReason(absl::ResourceExhaustedError("full"), "LUN_FULL", {{key, "1"}}));
  };
  const std::string line = full("capacity_bytes");
  size_t at = 0;
  for (const char* help : {"tapectl recordings delete", "tapectl keep --release",
                           "tapectl lun update --capacity", "tapectl lun update --max-age"}) {
    at = line.find(help, at);
    ASSERT_NE(at, std::string::npos) << help << ": " << line;
  }
  EXPECT_THAT(full("member"),
              AllOf(HasSubstr("tapectl recordings delete"), Not(HasSubstr("--capacity"))));
  for (const char* lacks : {"disk", "capacity"}) {
    const std::string never =
        LineOf("record", WithReason(absl::ResourceExhaustedError("full"), "LUN_FULL",
                                    {{"member", "/a"}, {"lacks", lacks}}));
    EXPECT_THAT(never, AllOf(HasSubstr("shorter"), Not(HasSubstr("delete"))));
  }
}

TEST(RemediesTest, AFieldIsTheOptionThatTheUserGave) {
  const auto refused = [](const std::string& command, const char* field, const std::string& why) {
    return LineOfNodes(command, ArgumentInvalid(field, absl::StrCat(field, why)));
  };
  EXPECT_THAT(refused("play", "pacing.end_sample", ": 9 is beyond the recording"),
              HasSubstr("play: --to-sample: 9 is beyond"));
  EXPECT_THAT(refused("play", "pacing.loop_count", " is above 2^32"),
              HasSubstr("play: --loop-count is above"));
  EXPECT_THAT(refused("record", "limit", " is missing"),
              HasSubstr("record: --blocks or --duration is missing"));
  EXPECT_THAT(refused("lun update", "update_mask", " is empty"), Not(HasSubstr("update_mask")));
  for (const OptionOfField& one : kOptionsOfFields) {
    for (const std::string& command : Split(one.commands, ", ")) {
      for (const std::string& word : Split(one.option, " ")) {
        if (!absl::StartsWith(word, "--")) continue;
        EXPECT_TRUE(ProgramsOwn().at(command).contains(word)) << command << " has no " << word;
      }
    }
  }
}

TEST(RemediesTest, WhatTheUserInterruptsIsNoJob) {
  EXPECT_THAT(LineOf("recordings export", JobCancelled()), HasSubstr("it was interrupted"));
  EXPECT_THAT(LineOf("record", JobCancelled("jobs/j1")), HasSubstr("the job was cancelled"));
}

TEST(RemediesTest, NothingTwice) {
  const absl::Status none =
      WithReason(absl::NotFoundError("no LUN l; tapectl lun list shows all"), "LUN_NOT_FOUND");
  EXPECT_THAT(LineOf("channel list", none), Not(HasSubstr("see tapectl lun list")));
}

TEST(RemediesTest, NothingThatDoesNotHelp) {
  const auto line = [](const std::string& option) {
    return LineOf("record", LimitReached(64, option, "no more"));
  };
  EXPECT_THAT(line("sessions"), HasSubstr("tapectl jobs list"));
  EXPECT_THAT(line("labels of a recording"), Not(HasSubstr("wait")));
  const absl::Status busy = WithReason(absl::FailedPreconditionError("busy"), "LUN_NOT_EMPTY");
  EXPECT_THAT(LineOf("lun delete", busy), HasSubstr("tapectl lun detach"));
  const absl::Status lost = BlockDamaged({.recording = "r"}, "r: 9 are lost; add --resume --gaps");
  EXPECT_THAT(LineOf("recordings export", lost), Not(HasSubstr("verify")));
  EXPECT_THAT(LineOf("play", lost), HasSubstr("see tapectl recordings verify"));
  EXPECT_THAT(LineOf("lun detach", busy), Not(HasSubstr("tapectl lun detach")));
}

}  // namespace
}  // namespace tapedeck::services::tapectl
