// The errors of rails that encrypt what they carry (--rail-tls): see transport/tcp/kernel_tls.h.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// FAILED_PRECONDITION (RAIL_TLS_UNUSABLE): this end cannot encrypt.
absl::Status RailTlsUnusable(absl::string_view rail, absl::string_view text);

// FAILED_PRECONDITION (RAIL_TLS_MISMATCH): one end alone encrypts, this one if `ours`.
absl::Status RailTlsMismatch(absl::string_view rail, bool ours);

// DATA_LOSS (RAIL_TLS_BROKEN): what came is not what the peer sent.
absl::Status RailTlsBroken(absl::string_view text);

}  // namespace tapedeck::dataplane
