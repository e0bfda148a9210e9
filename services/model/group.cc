#include "services/model/group.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "services/model/invalid.h"
#include "services/model/resource_name.h"

namespace tapedeck::services::model {
namespace {

std::string ValueOf(const Labels& labels, absl::string_view label) {
  const auto found = labels.find(std::string(label));
  return found == labels.end() ? "" : found->second;
}

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

void SetGroup(const GroupMember& member, Labels* labels) {
  (*labels)[std::string(kGroupLabel)] = member.id;
  (*labels)[std::string(kGroupNameLabel)] = member.name;
  (*labels)[std::string(kGroupMemberLabel)] = absl::StrCat(member.number, "/", member.members);
}

std::optional<GroupMember> KnownGroupOf(const Labels& labels) {
  GroupMember member{.id = ValueOf(labels, kGroupLabel), .name = ValueOf(labels, kGroupNameLabel)};
  const std::vector<std::string> numbers = absl::StrSplit(ValueOf(labels, kGroupMemberLabel), '/');
  if (numbers.size() != 2 || !absl::SimpleAtoi(numbers[0], &member.number) ||
      !absl::SimpleAtoi(numbers[1], &member.members) || !CheckGroup(member).ok()) {
    return std::nullopt;
  }
  return member;
}

Labels WithGroupOf(const Labels& before, Labels labels) {
  if (!KnownGroupOf(before).has_value()) return labels;
  for (const absl::string_view label : {kGroupLabel, kGroupNameLabel, kGroupMemberLabel,
                                        kStartsAtLabel, kClockLabel, kClockErrorLabel}) {
    if (before.contains(std::string(label))) {
      labels[std::string(label)] = ValueOf(before, label);
    } else {
      labels.erase(std::string(label));
    }
  }
  return labels;
}

}  // namespace tapedeck::services::model
