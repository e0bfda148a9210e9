#include "services/rpc/identity/tls/handshakes.h"

#include <openssl/ssl.h>

#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "services/rpc/limits.h"

namespace tapedeck::services::identity {

using dataplane::Log;
using dataplane::LogLevel;

struct Handshakes::Book {
  explicit Book(const HandshakeLimits& limits) : limits(limits) {}

  // Whether one more of `host` may begin.
  bool HasRoom(const std::string& host) ABSL_LOCKS_EXCLUDED(mutex);
  void Begin(const std::string& host) ABSL_LOCKS_EXCLUDED(mutex);
  void End(const std::string& host, bool well) ABSL_LOCKS_EXCLUDED(mutex);

  const HandshakeLimits limits;
  absl::Mutex mutex;
  std::map<std::string, size_t> hosts ABSL_GUARDED_BY(mutex);  // with one at least
  size_t under_way ABSL_GUARDED_BY(mutex) = 0;
  uint64_t failed ABSL_GUARDED_BY(mutex) = 0;
};

namespace {

constexpr char kHandshakeLog[] = "services/identity";

// That of TLS 1.3 for want of a certificate, which OpenSSL 3.0 has no name for.
constexpr int kCertificateRequired = 116;

std::string HostOf(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

// gRPC's limit is counted in whole milliseconds, by a clock that it reads now and then.
constexpr int kTimerSlackMs = 100;

// Of one connection, from its making to its end; one thread at a time.
struct Visit {
  std::shared_ptr<Handshakes::Book> book;
  std::string peer;
  absl::Time begun;
  bool done = false;
  std::optional<int> alert;  // the last
  bool we_said_so = false;
};

// Whose connection OpenSSL makes on this thread; none: one that this program opens itself.
thread_local std::optional<Visit> arriving;

std::string WhyWeRefused(int alert) {
  switch (alert) {
    case kCertificateRequired:
      return "it has no certificate";
    case SSL_AD_UNKNOWN_CA:
      return "its certificate is of an authority that is not trusted";
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "its certificate has expired";
    case SSL_AD_PROTOCOL_VERSION:
    case SSL_AD_HANDSHAKE_FAILURE:
      return "it does not speak TLS 1.3";
    default:
      return SSL_alert_desc_string_long(alert);
  }
}

std::string WhyFailed(const Visit& visit) {
  if (!visit.alert.has_value()) {
    const bool late = dataplane::SteadyTime() - visit.begun >=
                      absl::Milliseconds(kHandshakeTimeoutMs - kTimerSlackMs);
    return late ? absl::StrCat("it has not finished within ", kHandshakeTimeoutMs / 1000, " s")
                : "it went away, or does not speak TLS";
  }
  if (visit.we_said_so) return WhyWeRefused(*visit.alert);
  return absl::StrCat("it refused: ", SSL_alert_desc_string_long(*visit.alert));
}

void EndWell(Visit& visit) {
  if (visit.done) return;
  visit.done = true;
  visit.book->End(HostOf(visit.peer), true);
}

// Each message of the connection, both ways.
void OnMessage(int ours, int, int kind, const void* message, size_t bytes, SSL*, void* visit_of) {
  Visit& visit = *static_cast<Visit*>(visit_of);
  const auto* first = static_cast<const uint8_t*>(message);
  if (visit.done) return;
  if (kind == SSL3_RT_ALERT && bytes == 2) {
    visit.alert = first[1];
    visit.we_said_so = ours != 0;
  }
  // The caller's last one, which proves that it has the key of its certificate.
  if (kind == SSL3_RT_HANDSHAKE && ours == 0 && bytes > 0 && first[0] == SSL3_MT_FINISHED) {
    EndWell(visit);
  }
}

void OnNewSsl(void* ssl, void*, CRYPTO_EX_DATA* data, int index, long, void*) {
  if (!arriving.has_value()) return;
  auto visit = std::make_unique<Visit>(*std::exchange(arriving, std::nullopt));
  visit->book->Begin(HostOf(visit->peer));
  SSL_set_msg_callback(static_cast<SSL*>(ssl), OnMessage);
  SSL_set_msg_callback_arg(static_cast<SSL*>(ssl), visit.get());
  CRYPTO_set_ex_data(data, index, visit.release());
}

void OnFreeSsl(void*, void* visit_of, CRYPTO_EX_DATA*, int, long, void*) {
  const std::unique_ptr<Visit> visit(static_cast<Visit*>(visit_of));
  if (visit == nullptr || visit->done) return;
  // Who sees it counted finds it in the log.
  Log(LogLevel::kWarning, kHandshakeLog, "no handshake",
      {{"peer", visit->peer}, {"why", WhyFailed(*visit)}});
  visit->book->End(HostOf(visit->peer), false);
}

// Once in a process: OpenSSL calls the two for each connection that it makes then.
void WatchConnections() {
  [[maybe_unused]] static const int index =
      CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nullptr, OnNewSsl, nullptr, OnFreeSsl);
}

}  // namespace

bool Handshakes::Book::HasRoom(const std::string& host) {
  absl::MutexLock lock(&mutex);
  const auto found = hosts.find(host);
  return under_way < limits.at_once && (found == hosts.end() || found->second < limits.of_one_host);
}

void Handshakes::Book::Begin(const std::string& host) {
  absl::MutexLock lock(&mutex);
  ++hosts[host];
  ++under_way;
}

void Handshakes::Book::End(const std::string& host, bool well) {
  absl::MutexLock lock(&mutex);
  const auto found = hosts.find(host);
  if (--found->second == 0) hosts.erase(found);
  --under_way;
  if (!well) ++failed;
}

Handshakes::Handshakes(const HandshakeLimits& limits) : book_(std::make_shared<Book>(limits)) {
  WatchConnections();
}

Handshakes::Arrival::Arrival(const Handshakes& handshakes, std::string peer)
    : admitted_(handshakes.book_->HasRoom(HostOf(peer))) {
  if (admitted_) {
    arriving =
        Visit{.book = handshakes.book_, .peer = std::move(peer), .begun = dataplane::SteadyTime()};
    return;
  }
  Log(LogLevel::kWarning, kHandshakeLog, "refused: too many handshakes",
      {{"peer", peer},
       {"at_once", absl::StrCat(handshakes.book_->limits.at_once)},
       {"of_one_host", absl::StrCat(handshakes.book_->limits.of_one_host)}});
}

Handshakes::Arrival::~Arrival() { arriving.reset(); }

uint64_t Handshakes::failed() const {
  absl::MutexLock lock(&book_->mutex);
  return book_->failed;
}

size_t Handshakes::under_way() const {
  absl::MutexLock lock(&book_->mutex);
  return book_->under_way;
}

}  // namespace tapedeck::services::identity
