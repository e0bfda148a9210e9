// The description of a kind of store. The node asks it for capabilities and permitted members, and
// never asks for a kind by its name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/config.h"
#include "storage_node/store/store.h"

namespace tapedeck::services::command_line {
class Command;
}

namespace tapedeck::storage_node::store {

// A member as the LUN's description has it, and what it leads to, by which one is told from another
// that has two names.
struct MemberName {
  std::string name;
  std::string leads_to;
};

// What members of a kind may be; several kinds may share one. Every call waits for the disk.
struct MemberKind {
  // Whether what lies there is such a thing, be it a member of a LUN or not.
  bool (*is)(const std::string& member);
  // Of what a LUN may be made. INVALID_ARGUMENT (ARGUMENT_INVALID), NOT_FOUND or
  // FAILED_PRECONDITION (MEMBER_UNUSABLE).
  absl::StatusOr<MemberName> (*check)(const std::string& member);
  // What it says it is a member of; changes nothing. NOT_FOUND or FAILED_PRECONDITION
  // (MEMBER_UNUSABLE): of nothing, or another process has it.
  absl::StatusOr<format::LunMember> (*described_by)(const std::string& member);
  // Writes the LUN's description onto the member of that number, which is open nowhere.
  absl::Status (*describe)(const services::Lun& lun, uint32_t number);
  // Which storage node has it, for people; empty: none, or one that is gone. Changes and takes
  // nothing. Null: described_by fails while one has it.
  absl::StatusOr<std::string> (*held_by)(const std::string& member) = nullptr;
};

struct Capabilities {
  // What it holds is there after the node's process has ended.
  bool outlives_process = false;
  // Its members are directories, and the first has the configurations of the LUN's channels.
  bool keeps_channel_files = false;
  // Members can hold files that were written before recordings need them: prewrite_files.
  bool prewrites = false;
  // Two members can each hold all of a LUN: copies.
  bool keeps_copies = false;
  // All its room is taken when the LUN is made: capacity_bytes must be given, and never be more.
  bool takes_room_at_once = false;
  // A playback is lent what is stored itself: it needs no memory for followers, and what is damaged
  // there is not read once more.
  bool lends_blocks = false;
  // Its rings are given to io_uring, which locks them in memory where it may.
  bool locks_rings = false;
};

// How one member of a LUN is made, opened, and unmade once its recordings are gone.
struct MemberStore {
  std::function<absl::StatusOr<std::unique_ptr<Store>>(const services::Lun&, uint32_t)> create;
  std::function<absl::StatusOr<std::unique_ptr<Store>>(const services::Lun&, uint32_t)> open;
  std::function<absl::Status(const services::Lun&, uint32_t)> remove;
};

struct StoreKind {
  std::string name;                    // in requests, in lun.json and on the command line
  std::string description;             // one line, for people
  const MemberKind* member = nullptr;  // null: its LUNs have no members
  Capabilities capabilities;
  // Adds the kind's own options, which fill variables of the kind; null: it has none. Called before
  // the process reads its command line, once for each line, and before any LUN is open.
  void (*add_options)(const services::command_line::Command& node) = nullptr;
  // Makes an empty LUN, opens one, or removes what Create has made (recordings must be gone).
  std::function<absl::StatusOr<std::unique_ptr<Store>>(const services::Lun&)> create;
  std::function<absl::StatusOr<std::unique_ptr<Store>>(const services::Lun&)> open;
  std::function<absl::Status(const services::Lun&)> remove;
  MemberStore one;  // the same of one of its members
};

// Members that are paths.

// As an absolute path. INVALID_ARGUMENT (ARGUMENT_INVALID): it cannot be one. What lies there, if
// anything, is for the caller to see. Waits for the disk.
absl::StatusOr<MemberName> MemberPath(const std::string& member);

inline bool IsMemberPath(absl::string_view member) { return !member.empty() && member[0] == '/'; }

// FAILED_PRECONDITION (MEMBER_UNUSABLE) if a member of a LUN, which may be described by a file from
// anywhere, is no absolute path. Looks at nothing.
absl::Status CheckMemberPaths(const services::Lun& lun);

}  // namespace tapedeck::storage_node::store
