// Quantities, progress line and exit codes of tapectl.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/site/units.h"
#include "services/tapectl/program/answer.h"
#include "services/tapectl/program/field_options.h"
#include "services/tapectl/program/fields.h"
#include "services/tapectl/program/program.h"
#include "services/tapectl/terminal/failure.h"
#include "services/tapectl/terminal/progress.h"

namespace tapedeck::services::tapectl {
namespace {

TEST(UnitsTest, Bytes) {
  EXPECT_EQ(*ParseBytes("0"), 0u);
  EXPECT_EQ(*ParseBytes("4096"), 4096u);
  EXPECT_EQ(*ParseBytes("64KiB"), 64u << 10);
  EXPECT_EQ(*ParseBytes("1.5MiB"), 3u << 19);
  EXPECT_EQ(*ParseBytes("10GiB"), 10ull << 30);
  EXPECT_EQ(*ParseBytes("2MB"), 2'000'000u);
  EXPECT_EQ(*ParseBytes("1M"), 1u << 20);
  EXPECT_EQ(*ParseBytes("1G"), 1u << 30);
  for (const char* bad :
       {"", "x", "-1", "1 MiB", "1mib", "0.3", "1e3", "99999999999TiB", "1.2.3"}) {
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
  }
  EXPECT_EQ(FormatBytes(1000), "1000 B");
  EXPECT_EQ(FormatBytes(3 << 19), "1.5 MiB");
}

TEST(UnitsTest, RatesCountsAndDurations) {
  EXPECT_EQ(*ParseRate("2.4e6"), 2.4e6);
  EXPECT_EQ(*ParseRate("2.5M"), 2.5e6);
  EXPECT_EQ(*ParseRate("48k"), 48e3);
  EXPECT_FALSE(ParseRate("M").ok());
  EXPECT_FALSE(ParseRate("1e308G").ok());
  EXPECT_FALSE(ParseRate("inf").ok());
  EXPECT_FALSE(ParseRate("-1").ok());
  EXPECT_EQ(*ParseCount("7"), 7u);
  EXPECT_EQ(*ParseCount("2M"), 2'000'000u);
  EXPECT_FALSE(ParseCount("2.5M").ok());
  EXPECT_FALSE(ParseCount("18446744073709551615k").ok());
  EXPECT_FALSE(ParseCount("0").ok());
  EXPECT_EQ(*ParseNumber("0"), 0);
  EXPECT_EQ(*ParseNumber("2M"), 2000000);
  EXPECT_FALSE(ParseNumber("9223372036854776k").ok());
  EXPECT_FALSE(ParseNumber("-1").ok());
  EXPECT_FALSE(ParseNumber("9223372036854775808").ok());
  EXPECT_EQ(*ParseDurationNs("1m30s"), 90'000'000'000);
  EXPECT_EQ(*ParseDurationNs("250ms"), 250'000'000);
  EXPECT_EQ(*ParseDurationOrZeroNs("0"), 0);
  EXPECT_EQ(*ParseDurationOrZeroNs("2s"), 2'000'000'000);
  for (const char* bad : {"", "0s", "-1s", "10", "inf", "1y"}) {
    EXPECT_FALSE(ParseDurationNs(bad).ok()) << bad;
  }
}

TEST(UnitsTest, ANumberOfAFieldIsATimeOrADuration) {
  int64_t ns = 0;
  EXPECT_TRUE(ParseValue({.unit = model::Unit::kTime}, "1970-01-01T00:00:02Z", ns).ok());
  EXPECT_EQ(ns, 2'000'000'000);
  EXPECT_TRUE(ParseValue({.unit = model::Unit::kDuration}, "3s", ns).ok());
  EXPECT_EQ(ns, 3'000'000'000);
  EXPECT_TRUE(ParseValue({.unit = model::Unit::kTime}, "1969-07-20T20:17:40.5Z", ns).ok());
  EXPECT_LT(ns, 0);
  for (const char* none : {"infinite-future", "infinite-past", "2500-01-01T00:00:00Z"}) {
    EXPECT_FALSE(ParseTimeNs(none).ok()) << none;
  }
  EXPECT_FALSE(ParseValue({.unit = model::Unit::kDuration}, "1970-01-01T00:00:02Z", ns).ok());
}

TEST(TableTest, LeavesOptionalColumnsOutUntilItFits) {
  const Table table{.heads = {"NAME", "STATE", "SIZE"},
                    .rows = {{"luns/l0/channels/c0/recordings/r", "SEALED", "1 MiB"},
                             {"a:1/luns/l0", "SALVAGED", "2 MiB"},
                             {"luns/myluns/channels/c0", "", ""},
                             {"/srv/luns/x", "", ""}},
                    .optional = {"SIZE", "STATE"}};
  EXPECT_EQ(TextOf({table}),
            "NAME         STATE     SIZE\n"
            "l0/c0/r      SEALED    1 MiB\n"
            "a:1/l0       SALVAGED  2 MiB\n"
            "myluns/c0\n"
            "/srv/luns/x\n");
  EXPECT_EQ(TextOf({table}, 28), TextOf({table}));
  EXPECT_EQ(TextOf({table}, 27),
            "NAME         STATE\n"
            "l0/c0/r      SEALED\n"
            "a:1/l0       SALVAGED\n"
            "myluns/c0\n"
            "/srv/luns/x\n");
  EXPECT_EQ(TextOf({table}, 5), "NAME\nl0/c0/r\na:1/l0\nmyluns/c0\n/srv/luns/x\n");
}

TEST(TableTest, BreaksTheLastColumnIntoLinesThatFit) {
  const Table table{.heads = {"STORE", "WHAT"},
                    .rows = {{"posix", "files in directories of any file system"},
                             {"x", "averylongwordthatnolinehasroomfor"}}};
  EXPECT_EQ(TextOf({table}, 30),
            "STORE  WHAT\n"
            "posix  files in directories of\n"
            "       any file system\n"
            "x      averylongwordthatnolinehasroomfor\n");
  EXPECT_EQ(TextOf({table}, 12).find("\n "), std::string::npos);  // there is no room
}

TEST(TableTest, LeavesWhatUsersWriteAsItIs) {
  EXPECT_EQ(TextOf({{.heads = {"NAME", "NOTE"}, .rows = {{"luns/l0", "luns/archive"}}}}),
            "NAME  NOTE\nl0    luns/archive\n");
}

TEST(FieldsTest, AreNamedAndHaveUnits) {
  const Lun lun{.name = "luns/l0",
                .store = "posix",
                .members = {"/srv/a", "/srv/b"},
                .capacity_bytes = 1 << 30,
                .used_bytes = 157360128,
                .max_age_ns = 3'600'000'000'000};
  const auto rows = FieldsOf(lun);
  const auto value = [&rows](const std::string& name) {
    for (const auto& row : rows) {
      if (row[0] == name) return row[1];
    }
    return std::string("not there");
  };
  EXPECT_EQ(value("name"), "l0");
  EXPECT_EQ(value("members"), "/srv/a, /srv/b");
  EXPECT_EQ(value("capacity"), "1 GiB");
  EXPECT_EQ(value("used"), "150.1 MiB (157360128 bytes)");
  EXPECT_EQ(value("max age"), "1h");
  EXPECT_EQ(value("description"), "not there");
  const auto job =
      FieldsOf(Job{.name = "jobs/1", .bytes = 5, .rails = {{.name = "r0"}, {.name = "r1"}}});
  EXPECT_EQ(job.back()[0], "");
  EXPECT_TRUE(job.back()[1].starts_with("name r1, ")) << job.back()[1];
}

TEST(UnitsTest, SampleRates) {
  EXPECT_EQ(FormatSampleRate(0), "-");
  EXPECT_EQ(FormatSampleRate(999), "999 S/s");
  EXPECT_EQ(FormatSampleRate(48e3), "48 kS/s");
  EXPECT_EQ(FormatSampleRate(2.4e6), "2.4 MS/s");
  EXPECT_EQ(FormatSampleRate(30.72e6), "30.72 MS/s");
  EXPECT_EQ(FormatSampleRate(1e9), "1 GS/s");
}

TEST(TableTest, ColumnsAreThoseOfTheTerminal) {
  const Table table{
      .heads = {"LABEL", "N"},
      .rows = {{"Größe", "1"}, {"測試", "2"}, {"e\u0301", "3"}, {"a\x1b[31m\xff", "4"}}};
  EXPECT_EQ(TextOf({table}),
            "LABEL          N\n"
            "Größe          1\n"
            "測試           2\n"
            "e\u0301              3\n"
            "a\\x1b[31m\\xff  4\n");
}

TEST(ProgressTest, ShowsBarRatePercentAndTimeLeft) {
  const ProgressNow now{.fraction = 0.25, .blocks = 100, .mb_per_s = 1234.5, .elapsed_s = 30};
  EXPECT_EQ(ProgressLine("record", now, false),
            "record [######..................]  25%  100 blocks  1234.5 MB/s  1:30 left");
  EXPECT_EQ(ProgressLine("record", now, true, 72),
            "record  25%  100 blocks  1234.5 MB/s  1:30 left");
  EXPECT_EQ(ProgressLine("record", now, true, 20), "record  25%  100 bl");
  EXPECT_EQ(ProgressLine("verify", {.fraction = 0.5, .blocks = 2, .all_blocks = 4}, false, 80),
            "verify [############............]  50%  2 of 4 blocks  0:00 left");
  EXPECT_EQ(ProgressLine("copy", {.fraction = 0.5, .bytes = 1 << 20, .all_bytes = 2 << 20}, false),
            "copy [############............]  50%  1 MiB of 2 MiB  0:00 left");
  EXPECT_NE(ProgressLine("record", now, true).find("\033[32m"), std::string::npos);
  EXPECT_EQ(ProgressLine("record", {.blocks = 3, .elapsed_s = 61}, false),
            "record  3 blocks  1:01");
  EXPECT_EQ(ProgressLine("record", {.fraction = 0.5, .phase = "preparing memory"}, false),
            "record [############............]  50%  preparing memory");
  // More than was expected is still 100 %.
  EXPECT_NE(ProgressLine("x", {.fraction = 1.5}, false).find("100%"), std::string::npos);
}

TEST(ExportedTest, SaysWhereSamplesThatAreNotThereAre) {
  EXPECT_EQ(MissingText({.samples = 9}), "");
  EXPECT_EQ(MissingText({.missing_samples = 5}), "; missing 5 samples, which are zeros");
  EXPECT_EQ(MissingText({.missing_samples = 5, .leaves_out = true}),
            "; missing 5 samples, which are in no packet");
  EXPECT_EQ(MissingText({.missing_samples = 5, .lost_samples = 3, .leaves_out = true}),
            "; missing 5 and lost 3 samples, which are in no packet");
}

TEST(FailureTest, ExitCodes) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::UnauthenticatedError("")), 4);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), 5);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("")), 124);
}

TEST(FailureTest, StaysOnOneLine) {
  EXPECT_EQ(FailureLine("record", absl::InternalError("a\nb")), "tapectl: record: a b [INTERNAL]");
}

TEST(FailureTest, WhatOthersSayDoesNotCommandTheTerminal) {
  EXPECT_EQ(FailureLine("play", absl::InternalError("a\x1b[2J\x07é\x7f")),
            "tapectl: play: a\\x1b[2J\\x07é\\x7f [INTERNAL]");
}

// Of a channel that is recorded, or a recording that is repaired already, nothing is to be deleted.
TEST(FailureTest, WhatIsInUseIsNoReasonToDelete) {
  const std::string line = FailureLine("repair", ChannelInUse("luns/l/channels/c", "is recorded"));
  EXPECT_EQ(line, "tapectl: repair: l/c is recorded [CHANNEL_IN_USE]");
  const auto told = [](const std::string& text) {
    return FailureLine("repair",
                       WithReason(absl::FailedPreconditionError(text), "CHANNEL_IN_USE", {}));
  };
  EXPECT_EQ(told("luns/l holds luns/l/channels/c."),
            "tapectl: repair: l holds l/c. [CHANNEL_IN_USE]");
  EXPECT_EQ(told("\"a:1/luns/l/channels/c/recordings/r\""),
            "tapectl: repair: \"a:1/l/c/r\" [CHANNEL_IN_USE]");
  for (const char* path : {"luns/l/x", "/luns/l", "my/luns/l/channels/c", "xluns/l"}) {
    EXPECT_EQ(told(path), absl::StrCat("tapectl: repair: ", path, " [CHANNEL_IN_USE]"));
  }
}

}  // namespace
}  // namespace tapedeck::services::tapectl
