// Replaces the configuration of a LUN that is open and in use.
#pragma once

#include "absl/status/status.h"
#include "services/catalog.h"
#include "storage_node/luns/luns.h"

namespace tapedeck::storage_node::luns {

// `config` differs from that of `lun` in its policies and its capacity alone; the caller has
// checked it, and holds lun.changing. Waits for the disks.
//
// The members are written first, then the file in the state directory, then those who read the
// configuration get the new one. A start goes by the state directory, so that file is the step at
// which the change is made: a crash before it leaves the old configuration, and one after it the
// new. Where members say something else than that file, because a crash came between the two or a
// member failed, the start tells them (DescribeOnMembers); each of them says the old or the new
// one, and what both have in common is all that opening and attaching compare. The other order
// could lose a change that was answered: were the state directory lost, its members would say less
// than was in force. An error leaves the old one in
// force: INVALID_ARGUMENT (ARGUMENT_INVALID) if the capacity would be less than what is used.
absl::Status ReplaceConfig(Luns& luns, OpenLun& lun, const services::Lun& config);

}  // namespace tapedeck::storage_node::luns
