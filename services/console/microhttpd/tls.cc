#include "services/console/microhttpd/tls.h"

#include <gnutls/abstract.h>
#include <gnutls/x509.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/rpc/identity/tls/file_changes.h"

namespace tapedeck::services::console {
namespace {

using dataplane::Log;
using dataplane::LogLevel;

constexpr char kComponent[] = "services/console";
constexpr absl::Duration kLookEvery = absl::Seconds(1);

// As gRPC's port speaks.
char kPriorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3";

// 0: the peer's certificate is one of the authority, for a client, and valid now.
int Verify(gnutls_session_t session) {
  gnutls_typed_vdata_st purpose{
      .type = GNUTLS_DT_KEY_PURPOSE_OID,
      .data = reinterpret_cast<unsigned char*>(const_cast<char*>(GNUTLS_KP_TLS_WWW_CLIENT)),
      .size = 0};
  unsigned found = 0;
  const int result = gnutls_certificate_verify_peers(session, &purpose, 1, &found);
  return result == GNUTLS_E_SUCCESS && found == 0 ? 0 : GNUTLS_E_CERTIFICATE_ERROR;
}

// Of a connection that got no credentials of ours: it ends with its handshake.
int NoCertificate(gnutls_session_t, const gnutls_datum_t*, int, const gnutls_pk_algorithm_t*, int,
                  gnutls_pcert_st**, unsigned*, gnutls_privkey_t*) {
  return -1;
}

gnutls_session_t SessionOf(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return info == nullptr ? nullptr : static_cast<gnutls_session_t>(info->tls_session);
}

absl::Status Unusable(const std::string& file, int error) {
  return identity::TlsUnusable(file, absl::StrCat("cannot be used: ", gnutls_strerror(error)));
}

absl::StatusOr<Tls::Credentials> Load(const identity::TlsFiles& files) {
  TD_RETURN_IF_ERROR(identity::CheckTlsFiles(files, dataplane::WallTime()).status());
  gnutls_certificate_credentials_t made = nullptr;
  if (gnutls_certificate_allocate_credentials(&made) != GNUTLS_E_SUCCESS) {
    return absl::ResourceExhaustedError("gnutls_certificate_allocate_credentials failed");
  }
  Tls::Credentials credentials(made, gnutls_certificate_free_credentials);
  const int own = gnutls_certificate_set_x509_key_file2(made, files.cert.c_str(), files.key.c_str(),
                                                        GNUTLS_X509_FMT_PEM, nullptr, 0);
  if (own < 0) return Unusable(files.cert, own);
  const int trusted =
      gnutls_certificate_set_x509_trust_file(made, files.ca.c_str(), GNUTLS_X509_FMT_PEM);
  if (trusted <= 0) {
    return Unusable(files.ca, trusted == 0 ? GNUTLS_E_NO_CERTIFICATE_FOUND : trusted);
  }
  gnutls_certificate_set_verify_function(made, &Verify);
  return credentials;
}

}  // namespace

Tls::Stamps Tls::StampsOf(const identity::TlsFiles& files) {
  return {identity::StampOf(files.cert), identity::StampOf(files.key), identity::StampOf(files.ca)};
}

absl::StatusOr<std::unique_ptr<Tls>> Tls::Create(const identity::TlsFiles& files,
                                                 dataplane::EventLoop& loop) {
  // Before they are read: what changes meanwhile is read again.
  const Stamps stamps = StampsOf(files);
  TD_ASSIGN_OR_RETURN(Credentials credentials, Load(files));
  std::unique_ptr<Tls> tls(new Tls(files, loop, std::move(credentials)));
  TD_ASSIGN_OR_RETURN(
      tls->thread_,
      dataplane::StartThread("console-files", [raw = tls.get(), alive = tls->lifetime_->token(),
                                               stamps] { raw->Watch(alive, stamps); }));
  return tls;
}

Tls::~Tls() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

std::vector<MHD_OptionItem> Tls::Options() {
  return {{MHD_OPTION_HTTPS_PRIORITIES, 0, kPriorities},
          {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, reinterpret_cast<void*>(&NoCertificate)}};
}

void Tls::Begin(MHD_Connection* connection) {
  gnutls_session_t session = SessionOf(connection);
  if (session == nullptr) return;
  used_[connection] = credentials_;
  gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials_.get());
  gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
}

void Tls::End(MHD_Connection* connection) {
  const auto found = used_.find(connection);
  if (found == used_.end()) return;
  // The library frees the session after this.
  loop_.Post([credentials = std::move(found->second)] {});
  used_.erase(found);
}

void Tls::Watch(std::weak_ptr<char> alive, Stamps loaded) {
  Stamps wrong;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (dataplane::AwaitFor(mutex_, absl::Condition(&stopped_), kLookEvery)) return;
    }
    const Stamps now = StampsOf(files_);
    if (now == loaded) continue;
    absl::StatusOr<Credentials> fresh = Load(files_);
    if (!fresh.ok()) {
      // They are looked at again: a certificate may be valid from soon on.
      if (std::exchange(wrong, now) == now) continue;
      Log(LogLevel::kError, kComponent, "new certificate files are wrong: the old ones stay",
          {{"error", std::string(fresh.status().message())}});
      continue;
    }
    loaded = now;
    loop_.Post([this, alive, fresh = *std::move(fresh)] {
      if (!alive.expired()) credentials_ = fresh;
    });
  }
}

std::string PeerCertificate(MHD_Connection* connection) {
  gnutls_session_t session = SessionOf(connection);
  if (session == nullptr || Verify(session) != 0) return "";
  unsigned count = 0;
  const gnutls_datum_t* chain = gnutls_certificate_get_peers(session, &count);
  if (chain == nullptr || count == 0) return "";
  return {reinterpret_cast<const char*>(chain->data), chain->size};
}

}  // namespace tapedeck::services::console
