// The page's text, its bound, and the list that it is made of.
#include "services/observe/telemetry/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tests/shared_data.h"

namespace tapedeck::services::telemetry {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::string_view kNothingLeftOut =
    "# HELP tapedeck_page_samples_left_out Samples that did not fit on this page.\n"
    "# TYPE tapedeck_page_samples_left_out gauge\n"
    "tapedeck_page_samples_left_out 0\n";

TEST(PageTest, EachMetricOnceInTheOrderOfTheList) {
  Page page;
  page.Add("tapedeck_lun_used_bytes", uint64_t{18446744073709551615u}, {"l0"});
  page.Add("process_threads", 7);
  page.Add("tapedeck_lun_used_bytes", 5, {"l1"});
  EXPECT_EQ(page.Text(), absl::StrCat("# HELP process_threads Threads.\n"
                                      "# TYPE process_threads gauge\n"
                                      "process_threads 7\n",
                                      kNothingLeftOut,
                                      "# HELP tapedeck_lun_used_bytes Bytes that recordings take, "
                                      "with those reserved for running ones.\n"
                                      "# TYPE tapedeck_lun_used_bytes gauge\n"
                                      "tapedeck_lun_used_bytes{lun=\"l0\"} 18446744073709551615\n"
                                      "tapedeck_lun_used_bytes{lun=\"l1\"} 5\n"));
}

TEST(PageTest, NumbersAsPrometheusReadsThem) {
  Page page;
  page.Add("tapedeck_rail_temperature_celsius", 48.5, {"r0"});
  page.Add("tapedeck_lun_capacity_bytes", std::numeric_limits<double>::infinity(), {"l0"});
  page.Add("tapedeck_lun_time_until_full_seconds", std::nan(""), {"l0"});
  EXPECT_THAT(page.Text(), HasSubstr("{rail=\"r0\"} 48.5\n"));
  EXPECT_THAT(page.Text(), HasSubstr("{lun=\"l0\"} +Inf\n"));
  EXPECT_THAT(page.Text(), HasSubstr("{lun=\"l0\"} NaN\n"));
}

TEST(PageTest, ValuesOfLabelsAreEscapedAndCut) {
  Page page;
  page.Add("tapedeck_device_info", 1, {"a\"b\\c\nd", "\xff\x01 µ"});
  EXPECT_THAT(page.Text(), HasSubstr("{device=\"a\\\"b\\\\c\\nd\",description=\"?? µ\"} 1\n"));
  page.Add("tapedeck_lun_online", 1, {std::string(10'000, 'x')});
  EXPECT_THAT(page.Text(), HasSubstr(std::string(kMaxLabelBytes, 'x') + "\"} 1\n"));
  EXPECT_THAT(page.Text(), Not(HasSubstr(std::string(kMaxLabelBytes + 1, 'x'))));
}

TEST(PageTest, BucketsAddUp) {
  dataplane::Histogram histogram;
  histogram.Observe(1);
  histogram.Observe(250 * dataplane::kMicrosecondNs);
  histogram.Observe(60 * dataplane::kSecondNs);
  Page page;
  page.Add("tapedeck_rail_block_latency_seconds", histogram, {"r0"});
  const std::string text = page.Text();
  const std::string name = "tapedeck_rail_block_latency_seconds";
  EXPECT_THAT(text, HasSubstr("# TYPE " + name + " histogram\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rail=\"r0\",le=\"0.0001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rail=\"r0\",le=\"0.00025\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rail=\"r0\",le=\"10\"} 2\n"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{rail=\"r0\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(name + "_sum{rail=\"r0\"} 60.000250001\n"));
  EXPECT_THAT(text, HasSubstr(name + "_count{rail=\"r0\"} 3\n"));
}

TEST(PageTest, CountersOfTransfersAppearByThemselves) {
  Page page;
  for (size_t i = 0; i < std::size(dataplane::kCounters); ++i) {
    page.Add(MetricId::Counter(i), i, {"record"});
    EXPECT_THAT(page.Text(), HasSubstr(absl::StrCat("tapedeck_", dataplane::kCounters[i].name,
                                                    "_total{direction=\"record\"} ", i, "\n")));
  }
}

TEST(PageTest, WhatHasNoRoomIsCounted) {
  Page page(1000);
  for (int i = 0; i < 1000; ++i) page.Add("tapedeck_lun_online", 1, {absl::StrCat("l", i)});
  const std::string text = page.Text();
  EXPECT_LT(text.size(), 1500u);
  const auto shown = std::vector<absl::string_view>(absl::StrSplit(text, "online{")).size() - 1;
  EXPECT_THAT(text, HasSubstr(absl::StrCat("tapedeck_page_samples_left_out ", 1000 - shown, "\n")));
}

TEST(PageTest, AWrongNumberOfLabelsIsNoSample) {
  Page page;
  page.Add("tapedeck_lun_online", 1);
  page.Add("process_threads", 1, {"l0"});
  EXPECT_THAT(page.Text(), EndsWith("tapedeck_page_samples_left_out 2\n"));
}

// What promtool check metrics asks for, and that no label can have values without end.
TEST(MetricsTest, AreNamedByTheRules) {
  const std::set<absl::string_view> bounded = {
      "address", "description", "device", "direction", "found_by", "level",     "lun",
      "rail",    "role",        "rung",   "stage",     "state",    "transport", "version"};
  std::set<std::string> names;
  for (size_t i = 0; i < kFamilies; ++i) {
    const Family family = FamilyOf(MetricId::Listed(i));
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    const bool counter = family.type == MetricType::kCounter;
    EXPECT_EQ(absl::EndsWith(family.name, "_total"), counter) << family.name;
    EXPECT_TRUE(absl::StartsWith(family.name, "tapedeck_") ||
                absl::StartsWith(family.name, "process_"))
        << family.name;
    for (const char c : family.name) {
      EXPECT_TRUE(absl::ascii_islower(c) || c == '_') << family.name;
    }
    if (family.type == MetricType::kHistogram) {
      EXPECT_THAT(family.name, EndsWith("_seconds"));
    }
    EXPECT_THAT(std::string(family.help), EndsWith(".")) << family.name;
    for (const absl::string_view label : absl::StrSplit(family.labels, ',', absl::SkipEmpty())) {
      EXPECT_TRUE(bounded.contains(label)) << family.name << " " << label;
    }
  }
}

// The table in the README has one row per metric and no other, with the same words; the counters of
// transfers, which have their own list, share one.
TEST(MetricsTest, ReadmeTableIsTheList) {
  std::ifstream file(TreeFile("services/observe/telemetry/README.md"));
  std::stringstream text;
  text << file.rdbuf();
  std::set<std::string> documented, known;
  for (const absl::string_view line : absl::StrSplit(text.str(), '\n')) {
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (cells.size() == 6 && absl::StrContains(cells[1], "_") &&
        !absl::StrContains(cells[1], "{counter}")) {
      documented.insert(absl::StrReplaceAll(line, {{", ", ","}}));
    }
  }
  for (size_t i = 0; i < kMetricCount; ++i) {
    const Family family = FamilyOf(MetricId::Listed(i));
    const absl::string_view type = family.type == MetricType::kCounter ? "counter"
                                   : family.type == MetricType::kGauge ? "gauge"
                                                                       : "histogram";
    const std::string row = absl::StrCat("| `", family.name, "` | ", type, " | ", family.labels,
                                         " | ", family.help, " |");
    known.insert(absl::StrReplaceAll(row, {{", ", ","}}));
  }
  EXPECT_EQ(documented, known);
}

}  // namespace
}  // namespace tapedeck::services::telemetry
