// What a recording says of itself that is one part of a larger one, which several storage nodes
// hold together. It stands among its labels, so that manifests, lists and programs have it: `part`
// is "2/3", `part_of` the ID of the whole, which each of its parts has for its own, and
// `part_copies` how many parts have each block, where that is more than one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/description.h"

namespace tapedeck::services::model {

inline constexpr absl::string_view kPartLabel = "part";
inline constexpr absl::string_view kPartOfLabel = "part_of";
inline constexpr absl::string_view kPartCopiesLabel = "part_copies";

// Each is a session of the worker, with a place of its node's 64.
inline constexpr uint32_t kMaxParts = 16;
inline constexpr uint32_t kMaxPartCopies = 2;

struct Part {
  uint32_t number = 1;  // from 1
  uint32_t parts = 1;   // of the whole, at most kMaxParts
  uint32_t copies = 1;  // parts that have each block, at most kMaxPartCopies and `parts`
  std::string whole;    // ID of the recording
  bool operator==(const Part&) const = default;
};

// None: it is whole. INVALID_ARGUMENT (ARGUMENT_INVALID, NAME_INVALID): labels that say no such
// thing in full.
absl::StatusOr<std::optional<Part>> PartOf(const Labels& labels);
// The same of what may be anything: what is no part in full is whole.
std::optional<Part> KnownPartOf(const Labels& labels);

void SetPart(const Part& part, Labels* labels);

// `labels` with what `before` says of a part, whatever they say of one: that is not for users to
// change.
Labels WithPartOf(const Labels& before, Labels labels);

// "part 2 of 3"
std::string NameOfPart(const Part& part);

}  // namespace tapedeck::services::model
