// HTTPS of the console: TLS 1.3 with certificates at both ends, as gRPC's port has it. The files
// are looked at every second, and new ones count for new connections. All but Create is on the
// loop, as the library is.
#pragma once

#include <gnutls/gnutls.h>
#include <microhttpd.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/executor/lifetime.h"
#include "services/rpc/identity/tls/file_changes.h"
#include "services/rpc/identity/tls/tls_files.h"

namespace tapedeck::services::console {

// Owned by the server. A thread of its own reads the files.
class Tls {
 public:
  // Shared with the connections that were made with them, as the library asks for.
  using Credentials = std::shared_ptr<std::remove_pointer_t<gnutls_certificate_credentials_t>>;

  // FAILED_PRECONDITION (TLS_UNUSABLE), as identity::CheckTlsFiles.
  static absl::StatusOr<std::unique_ptr<Tls>> Create(const identity::TlsFiles& files,
                                                     dataplane::EventLoop& loop);
  ~Tls();

  // For the library's start.
  static std::vector<MHD_OptionItem> Options();

  // A connection that has said nothing yet, and one that the library will free next.
  void Begin(MHD_Connection* connection);
  void End(MHD_Connection* connection);

  // No files are taken from now on.
  void Close() { lifetime_.reset(); }

 private:
  Tls(identity::TlsFiles files, dataplane::EventLoop& loop, Credentials credentials)
      : files_(std::move(files)), loop_(loop), credentials_(std::move(credentials)) {}

  // Of certificate, key and authority.
  using Stamps = std::array<identity::FileStamp, 3>;
  static Stamps StampsOf(const identity::TlsFiles& files);

  // `loaded` are those of the files that are in use.
  void Watch(std::weak_ptr<char> alive, Stamps loaded);

  const identity::TlsFiles files_;
  dataplane::EventLoop& loop_;
  Credentials credentials_;  // for new connections
  std::map<MHD_Connection*, Credentials> used_;
  std::unique_ptr<dataplane::Lifetime> lifetime_ = std::make_unique<dataplane::Lifetime>();

  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// The certificate of who is at the other end, in DER, if it is one of the authority; empty in plain
// HTTP.
std::string PeerCertificate(MHD_Connection* connection);

}  // namespace tapedeck::services::console
