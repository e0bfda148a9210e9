// New members for a LUN that is open and in use. The node makes them and writes onto them whose
// they are, before the LUN relies on them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/luns/luns.h"
#include "storage_node/store/kind.h"
#include "storage_node/store/member_list.h"

namespace tapedeck::storage_node::luns {

// Of one change of a LUN, on its thread. What it does waits for the disks. Unless they join the
// LUN, or are left, those that were made are unmade with this.
class NewMembers {
 public:
  // Makes the members that `config` has beyond those of `lun`, of what is empty, as when a LUN is
  // made. One that was made by such a change before, which a crash has cut short, is taken as it
  // is: it carries the LUN's mark and the same number. FAILED_PRECONDITION or NOT_FOUND
  // (MEMBER_UNUSABLE, MEMBER_NOT_EMPTY), RESOURCE_EXHAUSTED (LIMIT_REACHED).
  static absl::StatusOr<std::unique_ptr<NewMembers>> Make(const OpenLun& lun,
                                                          const services::Lun& config);
  ~NewMembers();

  const store::ListedMembers& members() const { return members_; }
  // Of the LUN with them.
  uint64_t SizeWith(const OpenLun& lun) const;

  // The LUN's store has them from now on.
  void Join(const OpenLun& lun);
  // They keep their mark: what the LUN's other members, or the state directory, say of them is not
  // known. The same change takes them again.
  void Leave() { made_.clear(); }

 private:
  NewMembers(const store::MemberStore& one, const services::Lun& config)
      : one_(one), config_(config) {}
  absl::Status Add(const OpenLun& lun, uint32_t number);

  const store::MemberStore one_;
  const services::Lun config_;
  store::ListedMembers members_;
  std::vector<uint32_t> made_;
};

// `wanted` differs from that of `lun` in what can be changed alone; `added` are the members that it
// has beyond it. The caller has checked it, and holds lun.changing. Waits for the disks.
//
// The members that are added are written first, then the file in the state directory, then the
// members that the LUN has, then those who read the configuration get the new one. A start goes by
// the state directory, so that file is the step at which the change is made: a crash before it
// leaves the old configuration, and one after it the new. Where members say something else than
// that file, because a crash came between the two or a member failed, the start tells them
// (DescribeOnMembers). So no member of the LUN ever says that there are more members than the state
// directory knows, or a higher revision, unless that is older: then the LUN is not opened. An
// undone change goes the other way, members first, for the same reason. To attaching the longest
// list is the new one, and each member has its mark by then. An error leaves the old one in force:
// INVALID_ARGUMENT (ARGUMENT_INVALID) if the capacity would be less than what is used.
absl::Status ReplaceConfig(Luns& luns, OpenLun& lun, const services::Lun& wanted,
                           NewMembers& added);

}  // namespace tapedeck::storage_node::luns
