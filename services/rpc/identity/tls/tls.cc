#include "services/rpc/identity/tls/tls.h"

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <cstdlib>
#include <string>

#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::identity {
namespace {

using grpc::experimental::FileWatcherCertificateProvider;

// Certificates are replaced weeks before they end; who replaces a lost one waits for this.
constexpr unsigned kRefreshSeconds = 1;

// Of the ciphers of TLS 1.2 one that needs a key which both ends know beforehand, and none has: so
// no handshake of that version ends well. Those of TLS 1.3 are named elsewhere and stay.
constexpr char kNoCipherOfTls12[] = "PSK-CHACHA20-POLY1305";

void WatchAll(grpc::experimental::TlsCredentialsOptions& options) {
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
}

}  // namespace

void RefuseOldTls() { setenv("GRPC_SSL_CIPHER_SUITES", kNoCipherOfTls12, 1); }

absl::StatusOr<std::shared_ptr<const Tls>> Tls::Create(const TlsFiles& files) {
  TD_ASSIGN_OR_RETURN(const TlsFacts facts, CheckTlsFiles(files, dataplane::WallTime()));
  if (facts.key_readable_by_others) {
    dataplane::Log(dataplane::LogLevel::kWarning, "services/identity",
                   "anyone on this machine may read the key: chmod o-r", {{"key", files.key}});
  }
  auto provider = std::make_shared<FileWatcherCertificateProvider>(files.key, files.cert, files.ca,
                                                                   kRefreshSeconds);
  return std::shared_ptr<const Tls>(new Tls(files, facts.expires, std::move(provider)));
}

std::shared_ptr<grpc::ServerCredentials> Tls::ForServer() const {
  grpc::experimental::TlsServerCredentialsOptions options(provider_);
  WatchAll(options);
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> Tls::ForChannel() const {
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(provider_);
  WatchAll(options);
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace tapedeck::services::identity
