// Replaces the configuration of a LUN that is open and in use.
#pragma once

#include "absl/status/status.h"
#include "services/catalog.h"
#include "storage_node/luns/luns.h"
#include "storage_node/luns/new_members.h"

namespace tapedeck::storage_node::luns {

// `config` differs from that of `lun` in what can be changed alone; `added` are the members that it
// has beyond it. The caller has checked it, and holds lun.changing. Waits for the disks.
//
// The members are written first, those that are added before the others, then the file in the state
// directory, then those who read the configuration get the new one. A start goes by the state
// directory, so that file is the step at which the change is made: a crash before it leaves the old
// configuration, and one after it the new. Where members say something else than that file, because
// a crash came between the two or a member failed, the start tells them (DescribeOnMembers); each
// of them says the old or the new one, and what both have in common is all that opening compares;
// to attaching the one with more members is the new one, and each of them has its mark by then. The
// other order could lose a change that was answered: were the state directory lost, its members
// would say less than was in force. An error leaves the old one in force: INVALID_ARGUMENT
// (ARGUMENT_INVALID) if the capacity would be less than what is used.
absl::Status ReplaceConfig(Luns& luns, OpenLun& lun, const services::Lun& config,
                           NewMembers& added);

}  // namespace tapedeck::storage_node::luns
