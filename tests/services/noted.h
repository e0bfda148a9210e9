// Notes by their codes and facts, whatever their texts say.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "services/model/words/note.h"

namespace tapedeck::services {

// A code and facts, of which the note may have more: "PACKETS_OTHER_STREAM|packets=101|names~7 (";
// `=` is all of a fact's value, `~` a part of it.
inline testing::Matcher<Note> Noted(absl::string_view said) {
  using testing::Contains;
  using testing::Field;
  using testing::Pair;
  const std::vector<std::string> parts = absl::StrSplit(said, '|');
  testing::Matcher<Note> all = Field("code", &Note::code, parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t sign = parts[i].find_first_of("=~");
    const std::string key = parts[i].substr(0, sign);
    const std::string value = parts[i].substr(sign + 1);
    const testing::Matcher<std::string> is =
        parts[i][sign] == '=' ? testing::Matcher<std::string>(value) : testing::HasSubstr(value);
    all = testing::AllOf(all, Field("facts", &Note::facts, Contains(Pair(key, is))));
  }
  return all;
}

// The same of each, for ElementsAreArray and UnorderedElementsAreArray.
template <typename Said>
std::vector<testing::Matcher<Note>> NotedEach(const std::vector<Said>& said) {
  std::vector<testing::Matcher<Note>> all;
  for (const auto& one : said) all.push_back(Noted(one));
  return all;
}

}  // namespace tapedeck::services

namespace tapedeck::services::model {

// In failures.
inline void PrintTo(const Note& note, std::ostream* out) {
  *out << note.code << " \"" << note.text << '"';
  for (const auto& [key, value] : note.facts) *out << ' ' << key << '=' << value;
}

}  // namespace tapedeck::services::model
