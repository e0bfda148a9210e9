// One part of a larger recording, which several storage nodes hold together. Each part says so
// (Recording::part), has the ID of the whole for its own, and nobody changes that later.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

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

template <>
struct Fields<Part> {
  static constexpr auto kList =
      std::make_tuple(Describe(&Part::number, {.name = "number", .role = Role::kNoted}),
                      Describe(&Part::parts, {.name = "parts", .role = Role::kNoted}),
                      Describe(&Part::copies, {.name = "copies", .role = Role::kNoted}),
                      Describe(&Part::whole, {.name = "whole", .role = Role::kNoted}));
};

// INVALID_ARGUMENT (ARGUMENT_INVALID, NAME_INVALID).
absl::Status CheckPart(const Part& part);

// "part 2 of 3"
std::string NameOfPart(const Part& part);

}  // namespace tapedeck::services::model
