// The errors of the data plane that have more than one cause: one function for each reason, which
// has its code and its metadata. The text says what failed and what helps.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// RESOURCE_EXHAUSTED (LIMIT_REACHED): `limit` is how many there may be, or what there is no more
// of; `option` is what it is a limit of.
absl::Status LimitReached(const absl::AlphaNum& limit, absl::string_view option,
                          absl::string_view text);

// RAIL_UNREACHABLE: UNAVAILABLE, or DEADLINE_EXCEEDED where the peer did not come in time.
absl::Status RailUnreachable(absl::string_view rail, absl::string_view address,
                             absl::string_view text,
                             absl::StatusCode code = absl::StatusCode::kUnavailable);

// UNAVAILABLE (NO_RDMA_DEVICE). `address` is empty where no rail could have one.
absl::Status NoRdmaDevice(absl::string_view address, absl::string_view text);

// FAILED_PRECONDITION (DEVICE_FAILED). `device` is empty where nobody knows which.
absl::Status DeviceFailed(absl::string_view device, absl::string_view text);

// FAILED_PRECONDITION (VERSION_MISMATCH): of a session's protocol, or of a rail's.
absl::Status VersionMismatch(uint32_t ours, uint32_t theirs, absl::string_view text);

}  // namespace tapedeck::dataplane
