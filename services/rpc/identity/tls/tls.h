// What a program proves itself with on its gRPC connections, and whom it believes: TLS 1.3 with
// certificates at both ends. The files are looked at every second, so that new ones count for the
// next connections without a restart; connections that are open go on with what they began with.
#pragma once

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "services/rpc/identity/tls/tls_files.h"

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
namespace experimental {
class CertificateProviderInterface;
}
}  // namespace grpc

namespace tapedeck::services::identity {

// First in main, before there are threads: gRPC 1.51 offers TLS 1.2 too, and no setting against it
// but the environment.
void RefuseOldTls();

// Immutable, any thread. Shared by the server and the channels of a process; it has a thread of
// gRPC's, which reads the files.
class Tls {
 public:
  // FAILED_PRECONDITION (TLS_UNUSABLE) as CheckTlsFiles says. A key that others may read is logged:
  // a Secret in a container is mounted so, where nobody else is, and whoever could read it has it
  // already.
  static absl::StatusOr<std::shared_ptr<const Tls>> Create(const TlsFiles& files);

  // Callers without a certificate of the authority are refused.
  std::shared_ptr<grpc::ServerCredentials> ForServer() const;
  // The node's certificate must name the host that was called: as DNS name or IP address.
  std::shared_ptr<grpc::ChannelCredentials> ForChannel() const;

  const TlsFiles& files() const { return files_; }
  // The certificate that it was made with.
  absl::Time expires() const { return expires_; }

 private:
  using Provider = std::shared_ptr<grpc::experimental::CertificateProviderInterface>;
  Tls(TlsFiles files, absl::Time expires, Provider provider)
      : files_(std::move(files)), expires_(expires), provider_(std::move(provider)) {}

  const TlsFiles files_;
  const absl::Time expires_;
  const Provider provider_;
};

}  // namespace tapedeck::services::identity
