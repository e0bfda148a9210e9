#include "services/tapectl/jobs/group_names.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/errors.h"
#include "services/model/words/storage_list.h"
#include "services/site/names.h"
#include "services/site/node_lists.h"
#include "services/site/several_nodes.h"
#include "services/tapectl/jobs/stage_option.h"

namespace tapedeck::services::tapectl {
namespace {

// Of what somebody has typed, in an error.
constexpr size_t kMostShown = 200;

absl::Status NoMember(absl::string_view text, absl::string_view form = kMemberForm) {
  return absl::InvalidArgumentError(
      absl::StrCat(dataplane::Printable(text, kMostShown), " is not ", form));
}

std::string PlaceOf(const GroupRecording& one) {
  return dataplane::Printable(ShortName(absl::StrCat(one.node.storage, "/", one.recording.name)));
}

int64_t StartOf(const GroupRecording& one) {
  return one.recording.group.has_value() ? one.recording.group->starts_at_ns : 0;
}

// Parts of it on different nodes.
bool AreOneWhole(const Recording& a, const Recording& b) {
  return a.part.has_value() && b.part.has_value() && a.name == b.name &&
         a.part->whole == b.part->whole;
}

// The workers have said so, each for its own recording.
absl::Status CheckAgreement(const GroupRecording& a, const GroupRecording& b) {
  const auto refused = [&](absl::string_view why) {
    return ArgumentInvalid(
        "group",
        absl::StrCat(PlaceOf(a), " and ", PlaceOf(b), " ", why, " of group ", a.member.id,
                     ": one of them does not belong to it; play or export the members one by one"));
  };
  if (a.member.name != b.member.name || a.member.members != b.member.members ||
      StartOf(a) != StartOf(b)) {
    return refused("do not agree on name, size or instant");
  }
  if (a.member.number != b.member.number || AreOneWhole(a.recording, b.recording)) {
    return absl::OkStatus();
  }
  if (a.recording.original.empty() != b.recording.original.empty()) return absl::OkStatus();
  if (!a.recording.original.empty() && a.recording.original == b.recording.original &&
      a.recording.original_uid == b.recording.original_uid) {
    return absl::OkStatus();
  }
  return refused(absl::StrCat("both say that they are member ", a.member.number));
}

// None: it is no number of a member.
std::optional<uint32_t> NumberOf(absl::string_view text) {
  uint32_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < 1 || number > model::kMaxGroupMembers) {
    return std::nullopt;
  }
  return number;
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

absl::StatusOr<MemberSpec> ParseMember(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) return NoMember(text);
  MemberSpec spec{.worker = std::string(text.substr(0, equals))};
  auto [storage, channel] = SplitNode(text.substr(equals + 1));
  if (const size_t comma = channel.find(','); comma != absl::string_view::npos) {
    TD_ASSIGN_OR_RETURN(spec.source, ParseEnd(channel.substr(comma + 1)));
    channel = channel.substr(0, comma);
  }
  spec.storage = std::string(storage);
  const bool named = naming::CheckNodeName(spec.worker).ok() &&
                     std::ranges::all_of(StoragesOf(storage), [](const std::string& node) {
                       return naming::CheckNodeName(node).ok();
                     });
  if (!named || channel.empty()) return NoMember(text);
  TD_ASSIGN_OR_RETURN(spec.channel, ChannelNameOf(std::string(channel)));
  return spec;
}

bool IsNamed(const model::GroupMember& member, const std::string& text) {
  return member.id == text || member.name == text;
}

absl::StatusOr<PlayerSpec> ParsePlayer(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) return NoMember(text, kPlayerForm);
  PlayerSpec spec{.worker = std::string(text.substr(0, equals))};
  if (!naming::CheckNodeName(spec.worker).ok()) return NoMember(text, kPlayerForm);
  for (const absl::string_view one : absl::StrSplit(text.substr(equals + 1), ',')) {
    const auto number = NumberOf(one);
    if (!number.has_value()) return NoMember(text, kPlayerForm);
    spec.numbers.push_back(*number);
  }
  return spec;
}

absl::StatusOr<std::vector<std::string>> PlayersOf(const std::vector<GroupRecording>& members,
                                                   const std::vector<std::string>& players,
                                                   const std::string& usual) {
  if (players.empty()) return std::vector<std::string>(members.size(), usual);
  std::map<uint32_t, std::string> workers;
  for (const std::string& text : players) {
    TD_ASSIGN_OR_RETURN(const PlayerSpec spec, ParsePlayer(text));
    for (const uint32_t number : spec.numbers) {
      if (number > members.front().member.members) {
        return absl::InvalidArgumentError(absl::StrCat("--member ", text, ": there are ",
                                                       members.front().member.members, " members"));
      }
      if (!workers.emplace(number, spec.worker).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("--member ", text, ": member ", number, " is named twice"));
      }
    }
  }
  std::vector<std::string> out;
  for (const GroupRecording& one : members) {
    const auto found = workers.find(one.member.number);
    if (found == workers.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no --member names a worker for member ", one.member.number));
    }
    out.push_back(found->second);
  }
  return out;
}

absl::StatusOr<std::vector<GroupRecording>> MembersOf(std::vector<GroupRecording> all,
                                                      const std::string& text) {
  const auto has_id = [&](const GroupRecording& one) { return one.member.id == text; };
  const bool by_id = std::ranges::any_of(all, has_id);  // others may be called so
  std::erase_if(all, [&](const GroupRecording& one) {
    return by_id ? !has_id(one) : one.member.name != text;
  });
  if (all.empty()) return all;
  const auto newest = std::ranges::max_element(
      all, {}, [](const GroupRecording& one) { return one.recording.open_time_ns; });
  const std::string id = newest->member.id;
  std::erase_if(all, [&](const GroupRecording& one) { return one.member.id != id; });
  std::ranges::sort(all, {}, [](const GroupRecording& one) {
    return std::tuple(one.member.number, !one.recording.original.empty(), one.node.storage,
                      one.recording.name);
  });
  std::vector<GroupRecording> members;
  for (GroupRecording& one : all) {
    if (!members.empty()) TD_RETURN_IF_ERROR(CheckAgreement(members.back(), one));
    if (!members.empty() && members.back().member.number == one.member.number) continue;
    members.push_back(std::move(one));
  }
  return members;
}

absl::StatusOr<std::vector<GroupRecording>> FindGroup(const Program& program,
                                                      const std::string& text) {
  std::vector<GroupRecording> all;
  for (const Program& node : EachNode(program)) {
    const auto listed = node.Catalog()->ListRecordings("luns/-/channels/-");
    if (!listed.ok() && NamesSeveral(program)) {
      std::cerr << node.storage << ": " << dataplane::Printable(listed.status().message()) << "\n";
      continue;
    }
    TD_RETURN_IF_ERROR(listed.status());
    for (const Recording& recording : *listed) {
      const auto member = model::MemberOf(recording.group);
      if (member.has_value()) all.push_back({node, recording, *member});
    }
  }
  std::set<std::string> ids;
  for (const GroupRecording& one : all) {
    if (one.member.name == text) ids.insert(one.member.id);
  }
  TD_ASSIGN_OR_RETURN(std::vector<GroupRecording> members, MembersOf(std::move(all), text));
  if (members.empty()) {
    const std::string shown = dataplane::Printable(text, kMostShown);
    return RecordingNotFound(shown,
                             absl::StrCat("no node of ", program.storage, " has a group ", shown));
  }
  if (members.front().member.id != text && ids.size() > 1) {
    std::cerr << "tapectl: " << ids.size() << " groups are called " << text
              << "; taking the newest, " << members.front().member.id << "\n";
  }
  TD_RETURN_IF_ERROR(CheckSegments(members));
  for (GroupRecording& one : members) {
    if (one.recording.part.has_value()) one.node.storage = program.storage;
  }
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
