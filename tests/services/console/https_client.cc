#include "tests/services/console/https_client.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <memory>

#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"

namespace tapedeck::services::console {
namespace {

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
};

dataplane::Fd Connect(int port) {
  dataplane::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = 20};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
  return socket;
}

// OpenSSL writes to a connection that the other end may have closed. Of this thread alone: the
// server in the same process must do without.
void BlockBrokenPipes() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

std::string AskOverTls(int port, const identity::TlsFiles& files, absl::string_view request) {
  BlockBrokenPipes();
  const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_load_verify_file(context.get(), files.ca.c_str());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (files.given()) {
    SSL_CTX_use_certificate_chain_file(context.get(), files.cert.c_str());
    SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM);
  }
  const dataplane::Fd socket = Connect(port);
  const std::unique_ptr<SSL, Free> session(SSL_new(context.get()));
  SSL_set_fd(session.get(), socket.get());
  std::string heard;
  if (SSL_connect(session.get()) != 1) return heard;
  if (SSL_write(session.get(), request.data(), static_cast<int>(request.size())) <= 0) return heard;
  std::array<char, 4096> part;
  int got;
  while ((got = SSL_read(session.get(), part.data(), part.size())) > 0) {
    heard.append(part.data(), static_cast<size_t>(got));
  }
  return heard;
}

std::string PostOverTls(int port, const identity::TlsFiles& files, absl::string_view path,
                        absl::string_view json) {
  return AskOverTls(port, files,
                    absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: node\r\nConnection: close\r\n",
                                 "Content-Type: application/json\r\nContent-Length: ", json.size(),
                                 "\r\n\r\n", json));
}

}  // namespace tapedeck::services::console
