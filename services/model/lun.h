// A LUN: a storage container. Field meanings are those of tapedeck/v1/catalog.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "services/model/words/description.h"
#include "services/model/words/field.h"
#include "services/model/words/names.h"
#include "services/model/words/update.h"

namespace tapedeck::services::model {

enum class FullPolicy { kStop = 1, kRing = 2 };
enum class LunState { kReady = 1, kOffline = 2, kDegraded = 3, kStandby = 4 };

template <>
struct EnumNames<FullPolicy> {
  static constexpr absl::string_view kWhat = "policy for a full LUN";
  static constexpr std::pair<FullPolicy, absl::string_view> kTable[] = {
      {FullPolicy::kStop, "stop"}, {FullPolicy::kRing, "ring"}};
};

template <>
struct EnumNames<LunState> {
  static constexpr absl::string_view kWhat = "state of a LUN";
  static constexpr std::pair<LunState, absl::string_view> kTable[] = {
      {LunState::kReady, "READY"},
      {LunState::kOffline, "OFFLINE"},
      {LunState::kDegraded, "DEGRADED"},
      {LunState::kStandby, "STANDBY"}};
};

inline constexpr size_t kMaxMembers = 64;
inline constexpr uint32_t kMaxCopies = 2;
// Above them the files would be too small to be of use.
inline constexpr uint32_t kMaxPrewriteFiles = 1000;
inline constexpr uint64_t kPrewriteMultiple = 4096;  // of O_DIRECT
inline constexpr uint64_t kMaxPrewriteBytes = uint64_t{1} << 62;

struct Lun {
  std::string name;  // luns/{lun}
  LunState state = LunState::kReady;
  std::string cause;  // why it is not ready, or why its capacity is larger than it has room for
  std::string uid;
  // What its recordings have for the LUN's uid where that is another one, as in a LUN that was
  // made of a copy; empty: uid. For the storage node alone.
  std::string origin_uid;
  // One more with each change of what follows: of two descriptions the higher one is newer. For the
  // storage node alone.
  uint64_t revision = 0;
  const std::string& recorded_uid() const { return origin_uid.empty() ? uid : origin_uid; }
  std::string store;  // its kind, by name; which there are, the storage node says
  std::vector<std::string> members;
  uint64_t capacity_bytes = 0;
  uint64_t used_bytes = 0;
  uint64_t recordings = 0;
  FullPolicy full_policy = FullPolicy::kStop;
  int64_t max_age_ns = 0;
  uint32_t max_fill_percent = 0;
  // Files kept per member, and the bytes of each, that were written before recordings need them;
  // both 0: none.
  uint32_t prewrite_files = 0;
  uint64_t prewrite_bytes = 0;
  std::string description;
  Labels labels;
  int64_t create_time_ns = 0;  // UTC
  // Of everything, each on a member of its own; 0 is 1.
  uint32_t copies = 0;
  bool mirrored() const { return copies > 1; }
  // Over how many members the blocks of its recordings go round: the copies are no such members.
  uint32_t striped_members() const {
    return mirrored() || members.empty() ? 1 : static_cast<uint32_t>(members.size());
  }
};

template <>
struct Fields<Lun> {
  static constexpr auto kList = std::make_tuple(
      Describe(&Lun::name, {.name = "name",
                            .role = Role::kName,
                            .fixed = "detach the LUN, and attach it under another name"}),
      Report(&Lun::state, "state"), Report(&Lun::cause, "cause"),
      Describe(&Lun::uid,
               {.name = "uid", .role = Role::kNoted, .fixed = "its members know each other by it"}),
      Describe(&Lun::origin_uid, {.name = "origin_uid", .role = Role::kInternal}),
      Describe(&Lun::revision, {.name = "revision", .role = Role::kInternal}),
      Describe(&Lun::store, {.name = "store", .role = Role::kFixed, .fixed = "make another LUN"}),
      // May become longer alone: more come after those there are.
      Describe(&Lun::members, {.name = "members", .most = kMaxMembers}),
      Describe(&Lun::capacity_bytes,
               {.name = "capacity_bytes",
                .unit = Unit::kBytes,
                .option = "capacity",
                .help = "Payload limit, e.g. 10GiB; at least as much as the LUN holds",
                .zero = "what its members hold"}),
      Report(&Lun::used_bytes, "used_bytes"), Report(&Lun::recordings, "recordings"),
      Describe(&Lun::full_policy,
               {.name = "full_policy",
                .option = "full-policy",
                .help = "If the LUN is full: stop ends recordings, ring deletes the oldest",
                .initial = "stop"}),
      Describe(&Lun::max_age_ns, {.name = "max_age",
                                  .unit = Unit::kDuration,
                                  .option = "max-age",
                                  .help = "Delete recordings this long after their end, e.g. 72h",
                                  .zero = "never"}),
      Describe(&Lun::max_fill_percent,
               {.name = "max_fill_percent",
                .most = 100,
                .option = "max-fill",
                .help = "Delete the oldest recordings while more than this percentage is used",
                .zero = "never"}),
      Describe(&Lun::prewrite_files, {.name = "prewrite_files",
                                      .most = kMaxPrewriteFiles,
                                      .option = "prewrite-files",
                                      .help = "Prewritten files that each member (posix, direct) "
                                              "keeps ready: faster to record into; at most 1000",
                                      .zero = "none"}),
      Describe(
          &Lun::prewrite_bytes,
          {.name = "prewrite_bytes",
           .unit = Unit::kBytes,
           .most = kMaxPrewriteBytes,
           .option = "prewrite-bytes",
           .help =
               "Size of each prewritten file, e.g. 1GiB; best the size of a segment on one member",
           .zero = "none"}),
      Describe(&Lun::description,
               {.name = "description", .option = "description", .help = "Description for people"}),
      Describe(&Lun::labels, {.name = "labels",
                              .option = "label",
                              .help = "NAME=VALUE, for programs; repeat it for several",
                              .zero = "no labels"}),
      Describe(&Lun::create_time_ns,
               {.name = "create_time", .role = Role::kNoted, .unit = Unit::kTime}),
      Describe(
          &Lun::copies,
          {.name = "copies",
           .role = Role::kFixed,
           .most = kMaxCopies,
           .fixed = "make another LUN, and record into that",
           .option = "copies",
           .help =
               "Copies of everything: 1, or 2 with two members (posix, direct), one copy on each",
           .zero = "1"}));
};

using LunUpdate = Update<Lun>;

// What any LUN must be; what the kind of its store asks of it besides, the storage node knows.
// INVALID_ARGUMENT (ARGUMENT_INVALID).
absl::Status CheckLun(const Lun& lun);

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::FullPolicy;
using model::Lun;
using model::LunState;
using model::LunUpdate;

}  // namespace tapedeck::services
