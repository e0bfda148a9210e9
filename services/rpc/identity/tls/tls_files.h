// The certificate files that a program is told: what must be right about them before they are used,
// and what is good to know of them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/base/faults.h"

namespace tapedeck::services::identity {

// All three or none. PEM; certificates and key of this program, and whose certificates it believes.
struct TlsFiles {
  std::string cert;  // this program's, then those that lead to the authority, if there are any
  std::string key;   // without a passphrase
  std::string ca;    // one authority or several

  bool given() const { return !cert.empty(); }
};

// A file longer than this is no certificate.
inline constexpr size_t kMaxTlsFileBytes = 1 << 20;

// A certificate that ends sooner wants to be replaced.
inline constexpr absl::Duration kExpirySoon = absl::Hours(24 * 14);

struct TlsFacts {
  absl::Time expires;                   // the first of the certificate and those that lead on
  bool key_readable_by_others = false;  // by users who are neither its owner nor of its group
};

// FAILED_PRECONDITION (TLS_UNUSABLE): "PATH WHAT".
absl::Status TlsUnusable(const std::string& path, absl::string_view what);

// Reads them, with every fault that CheckTlsFiles has. Fills `facts` as far as they are known.
Faults LookAtTlsFiles(const TlsFiles& files, absl::Time now, TlsFacts& facts);

// Reads them: may wait for a disk. FAILED_PRECONDITION (TLS_UNUSABLE) names the file and what is
// wrong with it: it cannot be read, holds nothing of its kind, the key is of another certificate,
// or the certificate is not valid at `now`.
absl::StatusOr<TlsFacts> CheckTlsFiles(const TlsFiles& files, absl::Time now);

}  // namespace tapedeck::services::identity
