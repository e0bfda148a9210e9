#include "services/model/part.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "services/model/invalid.h"
#include "services/model/resource_name.h"

namespace tapedeck::services::model {
namespace {

// Digits alone, as SetPart writes them.
bool ParseNumber(absl::string_view text, uint32_t* number) {
  return absl::SimpleAtoi(text, number) && *number >= 1 && *number <= kMaxParts &&
         text == absl::StrCat(*number);
}

}  // namespace

absl::StatusOr<std::optional<Part>> PartOf(const Labels& labels) {
  const auto text = labels.find(std::string(kPartLabel));
  const auto whole = labels.find(std::string(kPartOfLabel));
  if (text == labels.end() && whole == labels.end()) return std::nullopt;
  const auto bad = [](absl::string_view why) { return Invalid("labels.part", why); };
  if (text == labels.end() || whole == labels.end()) {
    return bad("goes with part_of: each needs the other");
  }
  Part part{.whole = whole->second};
  const std::vector<std::string> numbers = absl::StrSplit(text->second, '/');
  if (numbers.size() != 2 || !ParseNumber(numbers[0], &part.number) ||
      !ParseNumber(numbers[1], &part.parts) || part.number > part.parts) {
    return bad(absl::StrCat("is no I/N of at most ", kMaxParts, " parts"));
  }
  const auto copies = labels.find(std::string(kPartCopiesLabel));
  if (copies != labels.end() && (!ParseNumber(copies->second, &part.copies) || part.copies < 2 ||
                                 part.copies > std::min(kMaxPartCopies, part.parts))) {
    return Invalid("labels.part_copies", "is no number of copies that so many parts hold");
  }
  TD_RETURN_IF_ERROR(CheckId(part.whole));
  return part;
}

std::optional<Part> KnownPartOf(const Labels& labels) {
  return PartOf(labels).value_or(std::nullopt);
}

void SetPart(const Part& part, Labels* labels) {
  (*labels)[std::string(kPartLabel)] = absl::StrCat(part.number, "/", part.parts);
  (*labels)[std::string(kPartOfLabel)] = part.whole;
  labels->erase(std::string(kPartCopiesLabel));
  if (part.copies > 1) (*labels)[std::string(kPartCopiesLabel)] = absl::StrCat(part.copies);
}

Labels WithPartOf(const Labels& before, Labels labels) {
  for (const absl::string_view key : {kPartLabel, kPartOfLabel, kPartCopiesLabel}) {
    labels.erase(std::string(key));
    if (const auto old = before.find(std::string(key)); old != before.end()) labels.insert(*old);
  }
  return labels;
}

std::string NameOfPart(const Part& part) {
  return absl::StrCat("part ", part.number, " of ", part.parts);
}

}  // namespace tapedeck::services::model
