// Groups of channels that are recorded on one clock, as people name them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/recording/group.h"
#include "services/model/seams/catalog.h"
#include "services/model/words/stage_spec.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {

inline constexpr char kMemberForm[] =
    "WORKER=STORAGE/LUN/CHANNEL or WORKER=STORAGE/LUN/CHANNEL,SOURCE";

// A member that is to be recorded.
struct MemberSpec {
  std::string worker;               // HOST:PORT
  std::string storage;              // HOST:PORT, as the worker reaches it; several: for parts
  std::string channel;              // luns/LUN/channels/CHANNEL
  std::optional<StageSpec> source;  // none: that of all
};

// WORKER=STORAGE/LUN/CHANNEL[,SOURCE]; the source, which may have commas, is ParseEnd's.
// INVALID_ARGUMENT.
absl::StatusOr<MemberSpec> ParseMember(absl::string_view text);

inline constexpr char kPlayerForm[] = "WORKER=NUMBER or WORKER=NUMBER,NUMBER,...";

// Members that a worker is to play.
struct PlayerSpec {
  std::string worker;  // HOST:PORT
  std::vector<uint32_t> numbers;
};

// WORKER=NUMBER[,NUMBER...]; INVALID_ARGUMENT.
absl::StatusOr<PlayerSpec> ParsePlayer(absl::string_view text);

// A member that was recorded, and where.
struct GroupRecording {
  Program node;  // with --storage of its node alone; of a member in parts, of all nodes
  Recording recording;
  model::GroupMember member;
};

// Whether the group is named so: by its ID, or by its name.
bool IsNamed(const model::GroupMember& member, const std::string& text);

// Of recordings in any order the members of one group, by their numbers: of that with this ID, else
// of groups with this name those of the newest. Parts of one recording are one member. A copy
// stands for its original only where that is not there. INVALID_ARGUMENT (ARGUMENT_INVALID):
// recordings say of themselves that they are one member, or do not agree on the group; somebody
// else may have made one of them.
absl::StatusOr<std::vector<GroupRecording>> MembersOf(std::vector<GroupRecording> all,
                                                      const std::string& text);

// Who plays each of them, in their order: what `players` of kPlayerForm say; without any the worker
// of each is `usual`. INVALID_ARGUMENT: nobody plays one of them, or two do, or there is none such.
absl::StatusOr<std::vector<std::string>> PlayersOf(const std::vector<GroupRecording>& members,
                                                   const std::vector<std::string>& players,
                                                   const std::string& usual);

// Asks all nodes of --storage. Nodes that do not answer, members that none has, and other groups of
// that name are told of on stderr. As MembersOf; NOT_FOUND (RECORDING_NOT_FOUND), INVALID_ARGUMENT
// (ARGUMENT_INVALID): a member is cut into segments.
absl::StatusOr<std::vector<GroupRecording>> FindGroup(const Program& program,
                                                      const std::string& text);

// The stage as the member with this number has it: %m in a text is the number.
StageSpec ForMember(StageSpec stage, uint32_t number);

}  // namespace tapedeck::services::tapectl
