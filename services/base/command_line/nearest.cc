#include "services/base/command_line/nearest.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tapedeck::services::command_line {
namespace {

constexpr size_t kLongest = 64;
constexpr size_t kMostNamed = 3;
// Of one letter nobody can say what it begins.
constexpr size_t kShortestBeginning = 2;

// What the comparison is about.
std::string LettersOf(absl::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return absl::AsciiStrToLower(word);
}

// None if the words are not near each other.
std::optional<size_t> Distance(const std::string& typed, const std::string& word) {
  const size_t distance = EditDistance(typed, word);
  const bool begins = typed.size() >= kShortestBeginning && absl::StartsWith(word, typed);
  if (begins) return std::min<size_t>(distance, 1);
  if (distance > std::max(typed.size(), word.size()) / 3) return std::nullopt;
  return distance;
}

}  // namespace

size_t EditDistance(absl::string_view one, absl::string_view other) {
  // Rows of the table of distances between the beginnings of both.
  std::vector<size_t> before_last(other.size() + 1);
  std::vector<size_t> last(other.size() + 1);
  std::vector<size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= one.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= other.size(); ++j) {
      const size_t exchanged = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, exchanged});
      const bool swapped =
          i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[other.size()];
}

std::vector<std::string> Nearest(absl::string_view typed, const std::vector<std::string>& words) {
  std::vector<std::string> nearest;
  if (typed.size() > kLongest) return nearest;
  const std::string letters = LettersOf(typed);
  std::optional<size_t> least;
  for (const std::string& word : words) {
    const std::optional<size_t> distance = Distance(letters, LettersOf(word));
    if (!distance.has_value() || distance > least.value_or(kLongest)) continue;
    if (distance < least.value_or(kLongest)) nearest.clear();
    least = distance;
    if (nearest.size() < kMostNamed) nearest.push_back(word);
  }
  return nearest;
}

std::string DidYouMean(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  const auto quote = [](std::string* out, const std::string& word) {
    absl::StrAppend(out, "\"", word, "\"");
  };
  const auto last = std::prev(words.end());
  return absl::StrCat("did you mean ", absl::StrJoin(words.begin(), last, ", ", quote),
                      words.size() > 1 ? " or " : "", "\"", *last, "\"?");
}

}  // namespace tapedeck::services::command_line
