// Channels that several workers record on one clock, each into a recording of its own: a group.
// Each of its recordings says so (Recording::group), and nobody changes that later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

// Each is a job of some worker, and a connection of who starts them.
inline constexpr uint32_t kMaxGroupMembers = 64;

struct GroupMember {
  std::string id;        // of the group; an ID
  std::string name;      // of the group; an ID, too
  uint32_t number = 1;   // from 1
  uint32_t members = 1;  // at most kMaxGroupMembers
  bool operator==(const GroupMember&) const = default;
};

template <>
struct Fields<GroupMember> {
  static constexpr auto kList = std::make_tuple(
      Describe(&GroupMember::id, {.name = "id"}), Describe(&GroupMember::name, {.name = "name"}),
      Describe(&GroupMember::number, {.name = "number"}),
      Describe(&GroupMember::members, {.name = "members"}));
};

// INVALID_ARGUMENT (ARGUMENT_INVALID, NAME_INVALID).
absl::Status CheckGroup(const GroupMember& member);

// Of a recording. Sample 0 of each member was due at `starts_at_ns`.
struct RecordingGroup {
  std::string id;
  // Empty and 0: the job of one device of several, which share the ID alone.
  std::string name;
  uint32_t number = 0;
  uint32_t members = 0;
  int64_t starts_at_ns = 0;    // UTC; 0: at no instant
  std::string clock;           // by which the members began; empty: by none
  int64_t clock_error_ns = 0;  // how far that clock was off at most
  bool operator==(const RecordingGroup&) const = default;
};

template <>
struct Fields<RecordingGroup> {
  static constexpr auto kList = std::make_tuple(
      Describe(&RecordingGroup::id, {.name = "id", .role = Role::kNoted}),
      Describe(&RecordingGroup::name, {.name = "name", .role = Role::kNoted}),
      Describe(&RecordingGroup::number, {.name = "number", .role = Role::kNoted}),
      Describe(&RecordingGroup::members, {.name = "members", .role = Role::kNoted}),
      Describe(&RecordingGroup::starts_at_ns,
               {.name = "starts_at", .role = Role::kNoted, .unit = Unit::kTime}),
      Describe(&RecordingGroup::clock, {.name = "clock", .role = Role::kNoted}),
      Describe(&RecordingGroup::clock_error_ns,
               {.name = "clock_error", .role = Role::kNoted, .unit = Unit::kDuration}));
};

// INVALID_ARGUMENT (ARGUMENT_INVALID, NAME_INVALID).
absl::Status CheckGroup(const RecordingGroup& group);

// None: it is no member that has a number.
std::optional<GroupMember> MemberOf(const std::optional<RecordingGroup>& group);

}  // namespace tapedeck::services::model
