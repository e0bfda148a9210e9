#include "services/model/recording/lost.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tapedeck::services::model {
namespace {

constexpr char kThisSpan[] = "this span";

uint64_t EndOf(const Annotation& annotation) {
  return annotation.sample_start +
         std::min(annotation.sample_count, UINT64_MAX - annotation.sample_start);
}

std::string TextOf(uint64_t samples, uint64_t places, absl::string_view where) {
  return absl::StrCat(samples, " samples in ", places, " places of ", where);
}

std::string WhereOf(uint64_t first, uint64_t end) {
  return absl::StrCat("samples ", first, " to ", end - 1, " of the stream");
}

}  // namespace

std::string TextOfLost(uint64_t samples, uint64_t places) {
  return TextOf(samples, places, kThisSpan);
}

// The text has the numbers at these places, and is the one that they make.
std::optional<LostTogether> LostTogetherIn(const Annotation& annotation) {
  if (!IsMark(annotation, kLostLabel) || annotation.sample_count == 0) return std::nullopt;
  const std::vector<absl::string_view> words = absl::StrSplit(annotation.comment, ' ');
  LostTogether lost{.first = annotation.sample_start, .end = EndOf(annotation)};
  if (words.size() < 8 || !absl::SimpleAtoi(words[0], &lost.samples) ||
      !absl::SimpleAtoi(words[3], &lost.places)) {
    return std::nullopt;
  }
  if (annotation.comment == TextOfLost(lost.samples, lost.places)) return lost;
  uint64_t last = 0;
  if (words.size() < 10 || !absl::SimpleAtoi(words[7], &lost.first) ||
      !absl::SimpleAtoi(words[9], &last) || last == UINT64_MAX) {
    return std::nullopt;
  }
  lost.end = last + 1;
  const bool within = lost.first <= annotation.sample_start && EndOf(annotation) <= lost.end;
  const std::string text = TextOf(lost.samples, lost.places, WhereOf(lost.first, lost.end));
  return within && annotation.comment == text ? std::optional(lost) : std::nullopt;
}

Annotation PartOf(Annotation annotation, uint64_t first, uint64_t end) {
  const uint64_t whole_end = EndOf(annotation);
  if (annotation.sample_count == 0) return annotation;
  if (first <= annotation.sample_start && whole_end <= end) return annotation;
  if (const auto lost = LostTogetherIn(annotation); lost.has_value()) {
    annotation.comment = TextOf(lost->samples, lost->places, WhereOf(lost->first, lost->end));
  }
  annotation.sample_start = std::max(annotation.sample_start, first);
  annotation.sample_count = std::min(whole_end, end) - annotation.sample_start;
  return annotation;
}

}  // namespace tapedeck::services::model
