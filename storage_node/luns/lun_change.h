// Replaces the configuration of a LUN that is open and in use.
#pragma once

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"
#include "storage_node/luns/luns.h"
#include "storage_node/luns/new_members.h"

namespace tapedeck::storage_node::luns {

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
