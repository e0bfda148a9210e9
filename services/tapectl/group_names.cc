#include "services/tapectl/group_names.h"

#include <algorithm>
#include <iostream>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/naming/node_name.h"
#include "services/tapectl/names.h"
#include "services/tapectl/node_lists.h"
#include "services/tapectl/several_nodes.h"
#include "services/tapectl/stage_option.h"

namespace tapedeck::services::tapectl {
namespace {

absl::Status NoMember(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(text, " is no ", kMemberForm));
}

absl::Status CheckSegments(const std::vector<GroupRecording>& members) {
  for (const GroupRecording& one : members) {
    if (one.recording.stream.empty()) continue;
    return ArgumentInvalid("group", absl::StrCat(one.recording.name,
                                                 " is cut into segments: play or export the "
                                                 "members of this group one by one"));
  }
  return absl::OkStatus();
}

void TellMissing(const std::vector<GroupRecording>& members) {
  const model::GroupMember& group = members.front().member;
  for (uint32_t number = 1; number <= group.members; ++number) {
    const auto is = [&](const GroupRecording& one) { return one.member.number == number; };
    if (std::ranges::any_of(members, is)) continue;
    std::cerr << "tapectl: member " << number << " of " << group.members << " of " << group.name
              << " is on none of the nodes\n";
  }
}

}  // namespace

absl::StatusOr<MemberWish> ParseMember(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) return NoMember(text);
  MemberWish wish{.worker = std::string(text.substr(0, equals))};
  absl::string_view rest = text.substr(equals + 1);
  if (const size_t comma = rest.find(','); comma != absl::string_view::npos) {
    TD_ASSIGN_OR_RETURN(wish.source, ParseEnd(rest.substr(comma + 1)));
    rest = rest.substr(0, comma);
  }
  const auto [storage, channel] = SplitNode(rest);
  wish.storage = std::string(storage);
  const bool named =
      naming::CheckNodeName(wish.worker).ok() && naming::CheckNodeName(wish.storage).ok();
  if (!named || channel.empty()) return NoMember(text);
  TD_ASSIGN_OR_RETURN(wish.channel, ChannelNameOf(std::string(channel)));
  return wish;
}

bool IsNamed(const model::GroupMember& member, const std::string& text) {
  return member.id == text || member.name == text;
}

std::vector<GroupRecording> MembersOf(std::vector<GroupRecording> all, const std::string& text) {
  std::erase_if(all, [&](const GroupRecording& one) { return !IsNamed(one.member, text); });
  if (all.empty()) return all;
  const auto newest = std::ranges::max_element(
      all, {}, [](const GroupRecording& one) { return one.recording.start_time_ns; });
  const std::string id = newest->member.id;
  std::erase_if(all, [&](const GroupRecording& one) { return one.member.id != id; });
  std::ranges::sort(all, {}, [](const GroupRecording& one) {
    return std::tuple(one.member.number, !one.recording.original.empty());
  });
  const auto same_member = [](const GroupRecording& a, const GroupRecording& b) {
    return a.member.number == b.member.number;
  };
  all.erase(std::unique(all.begin(), all.end(), same_member), all.end());
  return all;
}

absl::StatusOr<std::vector<GroupRecording>> FindGroup(const Program& program,
                                                      const std::string& text) {
  std::vector<GroupRecording> all;
  for (const Program& node : EachNode(program)) {
    const auto listed = node.Catalog()->ListRecordings("luns/-/channels/-");
    if (!listed.ok() && NamesSeveral(program)) {
      std::cerr << node.storage << ": " << listed.status().message() << "\n";
      continue;
    }
    TD_RETURN_IF_ERROR(listed.status());
    for (const Recording& recording : *listed) {
      const auto member = model::KnownGroupOf(recording.labels);
      if (member.has_value()) all.push_back({node, recording, *member});
    }
  }
  std::vector<GroupRecording> members = MembersOf(std::move(all), text);
  if (members.empty()) {
    return RecordingNotFound(text,
                             absl::StrCat("no node of ", program.storage, " has a group ", text));
  }
  TD_RETURN_IF_ERROR(CheckSegments(members));
  TellMissing(members);
  return members;
}

StageSpec ForMember(StageSpec stage, uint32_t number) {
  for (auto& [name, value] : stage.parameters) {
    if (auto* text = std::get_if<std::string>(&value); text != nullptr) {
      *text = absl::StrReplaceAll(*text, {{"%m", absl::StrCat(number)}});
    }
  }
  return stage;
}

}  // namespace tapedeck::services::tapectl
