// What a log line makes of text that comes from a peer, and of many lines.
#include "dataplane/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/log_limit.h"

namespace tapedeck::dataplane {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(LogTest, ValuesAreEscaped) {
  const std::pair<std::string, std::string> rows[] = {
      {"plain", "plain"},
      {"", "\"\""},
      {"two words", "\"two words\""},
      {"a=b", "\"a=b\""},
      {"a\"b", "\"a\\\"b\""},
      {"a\\b", "\"a\\\\b\""},
      {"a\nlevel=error", "\"a\\nlevel=error\""},
      {"\x1b[2J", "\"\\x1b[2J\""},
      {std::string("a\0b", 3), "\"a\\x00b\""},
      {"a\rb\tc\x7f", "\"a\\x0db\\x09c\\x7f\""},
      {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xc2\x9b"
       "2J",
       "\"\\xc2\\x9b2J\""},                              // CSI as one C1 character
      {"\xff\xfe", "\"\\xff\\xfe\""},                    // no UTF-8
      {"\xc3", "\"\\xc3\""},                             // cut off
      {"\xc0\xaf", "\"\\xc0\\xaf\""},                    // too long for "/"
      {"\xe0\x80\xaf", "\"\\xe0\\x80\\xaf\""},           // too long
      {"\xed\xa0\x80", "\"\\xed\\xa0\\x80\""},           // half of a pair
      {"\xf5\x80\x80\x80", "\"\\xf5\\x80\\x80\\x80\""},  // beyond Unicode
  };
  for (const auto& [value, line] : rows) EXPECT_EQ(LogValue(value), line);
}

TEST(LogTest, LongValuesAreCutWithAMark) {
  for (const std::string& value : {std::string(100'000, 'x'), std::string(100'000, '\x1b')}) {
    const std::string cut = LogValue(value);
    EXPECT_LE(cut.size(), kMaxLogFieldBytes);
    EXPECT_GT(cut.size(), kMaxLogFieldBytes / 2);
    EXPECT_THAT(cut, HasSubstr(" bytes left out)"));
  }
  EXPECT_THAT(LogValue(std::string(1'900, 'x')), SizeIs(1'900));
}

TEST(LogTest, ALineIsOneLine) {
  testing::internal::CaptureStderr();
  Log(LogLevel::kWarning, "test", "one\nts=forged", {{"peer", "\x1b]0;x\n"}});
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_THAT(line, HasSubstr(R"(msg="one\nts=forged" peer="\x1b]0;x\n")"));
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
}

TEST(LogTest, AFloodIsCounted) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1'000; ++i) Log(LogLevel::kInfo, "test", "flood");
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_GE(std::ranges::count(lines, '\n'), LogLimit::kLines);
  EXPECT_LE(std::ranges::count(lines, '\n'), 5 * LogLimit::kLines);
}

TEST(LogLimitTest, EachMessageHasItsOwnShareOfASecond) {
  LogLimit limit;
  for (uint32_t i = 0; i < LogLimit::kLines; ++i) EXPECT_TRUE(limit.Admit("a", "x", 5));
  EXPECT_FALSE(limit.Admit("a", "x", 5));
  EXPECT_FALSE(limit.Admit("a", "x", LogLimit::kWindowNs));
  EXPECT_TRUE(limit.Admit("a", "y", 5));
  EXPECT_TRUE(limit.Admit("b", "x", 5));
  EXPECT_THAT(limit.TakeLeftOut(LogLimit::kWindowNs), IsEmpty());
  const auto left_out = limit.TakeLeftOut(2 * LogLimit::kWindowNs);
  ASSERT_THAT(left_out, SizeIs(1));
  EXPECT_EQ(left_out[0].component, "a");
  EXPECT_EQ(left_out[0].message, "x");
  EXPECT_EQ(left_out[0].lines, 2u);
  EXPECT_TRUE(limit.Admit("a", "x", 2 * LogLimit::kWindowNs));
  EXPECT_THAT(limit.TakeLeftOut(9 * LogLimit::kWindowNs), IsEmpty());
}

TEST(LogLimitTest, MessagesThatAllDifferAreBoundedToo) {
  LogLimit limit;
  size_t admitted = 0;
  for (int i = 0; i < 100'000; ++i) admitted += limit.Admit("a", absl::StrCat(i), 5) ? 1 : 0;
  EXPECT_EQ(admitted, LogLimit::kMessages + LogLimit::kLines);
  const auto left_out = limit.TakeLeftOut(2 * LogLimit::kWindowNs);
  ASSERT_THAT(left_out, SizeIs(1));
  EXPECT_EQ(left_out[0].message, "");
  EXPECT_EQ(left_out[0].lines, 100'000 - admitted);
}

}  // namespace
}  // namespace tapedeck::dataplane
