// What a recording says of itself that is one of a group: channels that several workers record on
// one clock, each into a recording of its own. It stands among its labels, as that of a part
// (part.h): `group` is the ID, `group_name` what people call it, `group_member` "2/4". Sample 0 of
// each member was due at the same instant, which `starts_at` says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/description.h"

namespace tapedeck::services::model {

inline constexpr absl::string_view kGroupLabel = "group";
inline constexpr absl::string_view kGroupNameLabel = "group_name";
inline constexpr absl::string_view kGroupMemberLabel = "group_member";
inline constexpr absl::string_view kStartsAtLabel = "starts_at";
inline constexpr absl::string_view kClockLabel = "clock";
inline constexpr absl::string_view kClockErrorLabel = "clock_error_ns";

// Each is a job of some worker, and a connection of who starts them.
inline constexpr uint32_t kMaxGroupMembers = 64;

struct GroupMember {
  std::string id;        // of the group; an ID
  std::string name;      // of the group; an ID, too
  uint32_t number = 1;   // from 1
  uint32_t members = 1;  // at most kMaxGroupMembers
  bool operator==(const GroupMember&) const = default;
};

// INVALID_ARGUMENT (ARGUMENT_INVALID, NAME_INVALID).
absl::Status CheckGroup(const GroupMember& member);

void SetGroup(const GroupMember& member, Labels* labels);

// None: it is in no group, or its labels do not say so in full.
std::optional<GroupMember> KnownGroupOf(const Labels& labels);

// `labels` with what `before` says of a group, its instant and its clock, whatever they say of one:
// that is not for users to change. Of what is in no group, `labels` as they are.
Labels WithGroupOf(const Labels& before, Labels labels);

}  // namespace tapedeck::services::model
