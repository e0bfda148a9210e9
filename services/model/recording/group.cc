#include "services/model/recording/group.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/invalid.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::services::model {
namespace {

constexpr size_t kMaxClockBytes = 256;

}  // namespace

absl::Status CheckGroup(const GroupMember& member) {
  TD_RETURN_IF_ERROR(CheckId(member.id));
  TD_RETURN_IF_ERROR(CheckId(member.name));
  if (member.members < 1 || member.members > kMaxGroupMembers) {
    return Invalid("group.members",
                   absl::StrCat("is ", member.members, ", not 1 to ", kMaxGroupMembers));
  }
  if (member.number < 1 || member.number > member.members) {
    return Invalid("group.number", absl::StrCat("is ", member.number, " of ", member.members));
  }
  return absl::OkStatus();
}

absl::Status CheckGroup(const RecordingGroup& group) {
  if (group.clock.size() > kMaxClockBytes) {
    return Invalid("group.clock", absl::StrCat("is longer than ", kMaxClockBytes, " bytes"));
  }
  if (group.clock_error_ns < 0) return Invalid("group.clock_error", "is negative");
  const auto member = MemberOf(group);
  if (member.has_value()) return CheckGroup(*member);
  if (!group.name.empty() || group.number != 0) {
    return Invalid("group.members", "is 0: a member has a name, a number and a size of the group");
  }
  return CheckId(group.id);
}

std::optional<GroupMember> MemberOf(const std::optional<RecordingGroup>& group) {
  if (!group.has_value() || group->members == 0) return std::nullopt;
  return GroupMember{
      .id = group->id, .name = group->name, .number = group->number, .members = group->members};
}

}  // namespace tapedeck::services::model
