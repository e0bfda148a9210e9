// Groups of channels that are recorded on one clock, as people name them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/catalog.h"
#include "services/model/group.h"
#include "services/stage_spec.h"
#include "services/tapectl/program.h"

namespace tapedeck::services::tapectl {

inline constexpr char kMemberForm[] = "WORKER=STORAGE/LUN/CHANNEL or with ,SOURCE behind it";

// A member that is to be recorded.
struct MemberWish {
  std::string worker;               // HOST:PORT
  std::string storage;              // HOST:PORT, as the worker reaches it
  std::string channel;              // luns/LUN/channels/CHANNEL
  std::optional<StageSpec> source;  // none: that of all
};

// WORKER=STORAGE/LUN/CHANNEL[,SOURCE]; the source, which may have commas, is ParseEnd's.
// INVALID_ARGUMENT.
absl::StatusOr<MemberWish> ParseMember(absl::string_view text);

// A member that was recorded, and where.
struct GroupRecording {
  Program node;  // with --storage of its node alone
  Recording recording;
  model::GroupMember member;
};

// Whether the group is named so: by its ID, or by its name.
bool IsNamed(const model::GroupMember& member, const std::string& text);

// Of recordings in any order the members of one group, by their numbers; of several groups with
// that name those of the newest. A copy stands for its original only where that is not there.
std::vector<GroupRecording> MembersOf(std::vector<GroupRecording> all, const std::string& text);

// Asks all nodes of --storage. Nodes that do not answer, and members that none has, are told of on
// stderr. NOT_FOUND (RECORDING_NOT_FOUND), INVALID_ARGUMENT (ARGUMENT_INVALID): a member is cut
// into segments.
absl::StatusOr<std::vector<GroupRecording>> FindGroup(const Program& program,
                                                      const std::string& text);

// The stage as the member with this number has it: %m in a text is the number.
StageSpec ForMember(StageSpec stage, uint32_t number);

}  // namespace tapedeck::services::tapectl
