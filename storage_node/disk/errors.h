// The errors of LUNs and their members that have more than one cause. Each reason has one function,
// with its code and its metadata. The text says what failed and what helps.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::disk {

// LUNs, by their names or ids.

// ALREADY_EXISTS (LUN_EXISTS).
absl::Status LunExists(absl::string_view lun, absl::string_view text);
// FAILED_PRECONDITION (LUN_NOT_EMPTY). `recordings` is 0 where it is something else that is there.
absl::Status LunNotEmpty(absl::string_view lun, uint64_t recordings, absl::string_view text);
// RESOURCE_EXHAUSTED (LUN_FULL): the capacity is used up. `lun` may be empty.
absl::Status LunFull(absl::string_view lun, uint64_t capacity_bytes, uint64_t used_bytes,
                     absl::string_view text);
// The same, where deleting all recordings of the LUN would not help: it lacks a "disk" or
// "capacity" that is larger.
absl::Status Lacking(const absl::Status& full, absl::string_view lacks);

// Members, by their paths.

// RESOURCE_EXHAUSTED (LUN_FULL): the member is, whatever the capacity. `member` may be empty.
absl::Status MemberFull(absl::string_view member, absl::string_view text);
// FAILED_PRECONDITION (MEMBER_NOT_EMPTY): `found` is what is there.
absl::Status MemberNotEmpty(absl::string_view member, absl::string_view found,
                            absl::string_view text);
// MEMBER_UNUSABLE: FAILED_PRECONDITION, NOT_FOUND where there is none, or as whoever reads it tells
// damage from what is wrong otherwise.
absl::Status MemberUnusable(absl::string_view member, absl::string_view text,
                            absl::StatusCode code = absl::StatusCode::kFailedPrecondition);
// The same: "member MEMBER: WHY".
absl::Status Unusable(absl::string_view member, absl::string_view why,
                      absl::StatusCode code = absl::StatusCode::kFailedPrecondition);
// STORE_IO: INTERNAL, or DATA_LOSS or OUT_OF_RANGE where something else is there than should be, or
// it ends too early.
absl::Status StoreIo(absl::string_view member, absl::string_view operation, absl::string_view text,
                     absl::StatusCode code = absl::StatusCode::kInternal);

// The state directory (STATE_UNUSABLE). Each text ends with what helps.

// RESOURCE_EXHAUSTED: its file system has no room.
absl::Status StateFull(absl::string_view directory, absl::string_view operation,
                       absl::string_view what);
// INTERNAL: it cannot be written or read.
absl::Status StateUnusable(absl::string_view directory, absl::string_view operation,
                           absl::string_view what, absl::string_view remedy = "");
// RESOURCE_EXHAUSTED: it fails, and no more of what it shall take can wait for it.
absl::Status StateBehind(absl::string_view directory, size_t waiting, absl::string_view what);
// An error of a file of the state directory, which the calls of this room give as one of a member.
absl::Status OfState(absl::string_view directory, const absl::Status& status);

// RESOURCE_EXHAUSTED (LUN_FULL) for a full file system or quota, else INTERNAL (STORE_IO).
// `operation` is the failing call, `where` the path it failed on, `member` the LUN's member.
absl::Status IoError(absl::string_view operation, absl::string_view where, absl::string_view member,
                     int error);

// By these a path leads nowhere any more, or a disk does nothing any more; what else a call fails
// with says nothing of that.
bool IsEndOfDisk(int error);

}  // namespace tapedeck::storage_node::disk
