#include "dataplane/printable.h"

#include <gtest/gtest.h>

namespace tapedeck::dataplane {
namespace {

TEST(PrintableTest, WhatCommandsATerminalIsEscaped) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"two words, \"quoted\"", "two words, \"quoted\""},
      {"a\nb\rc\td", "a b c d"},
      {"\x1b[2J\x07\x7f", "\\x1b[2J\\x07\\x7f"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xc2\x9b", "\\xc2\\x9b"},  // CSI as one C1 character
      {"\xff\xc3", "\\xff\\xc3"},  // no UTF-8
  };
  for (const auto& [text, line] : rows) EXPECT_EQ(Printable(text), line);
}

TEST(PrintableTest, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(Printable("abcd", 4), "abcd");
  EXPECT_EQ(Printable("abcde", 4), "abcd...");
  EXPECT_EQ(Printable("ab\xe2\x82\xac", 5), "ab\xe2\x82\xac");
  EXPECT_EQ(Printable("ab\xe2\x82\xac", 4), "ab...");
  EXPECT_EQ(Printable("ab\xe2\x82\xac", 2), "ab...");
  EXPECT_EQ(Printable("a", 0), "...");
}

}  // namespace
}  // namespace tapedeck::dataplane
