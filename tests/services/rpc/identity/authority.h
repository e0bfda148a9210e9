// Certificates for tests, by openssl's command line (tests/e2e/authority.sh). One thread.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "services/rpc/identity/tls/tls_files.h"

namespace tapedeck::services::identity {

// For what comes within a second or two.
inline constexpr absl::Duration kPatience = absl::Seconds(10);

// An authority in a directory of its own, which goes with it.
class Authority {
 public:
  Authority();
  ~Authority();

  // A new certificate and key called `name`, in the place of older ones. `names` are its
  // alternative names, "URI:spiffe://lab/ann,IP:127.0.0.1"; may be empty.
  TlsFiles Issue(const std::string& name, const std::string& names, int days = 30,
                 const std::string& subject = "") const;
  // Replaces a file of the directory whole.
  std::string Write(const std::string& name, const std::string& text) const;

  const std::string& directory() const { return directory_; }

 private:
  const std::string directory_;
};

}  // namespace tapedeck::services::identity
