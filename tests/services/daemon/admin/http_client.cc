#include "tests/services/daemon/admin/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::admin {

HttpClient::HttpClient(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{.tv_sec = 20};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
}

bool HttpClient::Say(absl::string_view text) const {
  while (!text.empty()) {
    const ssize_t sent = send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string HttpClient::Hear() const {
  std::string heard;
  std::array<char, 4096> part;
  ssize_t got;
  while ((got = recv(socket_.get(), part.data(), part.size(), 0)) > 0) {
    heard.append(part.data(), static_cast<size_t>(got));
  }
  EXPECT_FALSE(got < 0 && errno == EAGAIN) << "neither answered nor closed";
  return heard;
}

std::string HttpClient::HearUntil(absl::string_view text, int times) const {
  std::string heard;
  std::array<char, 4096> part;
  const std::string word(text);
  size_t from = 0;
  while (times > 0) {
    const ssize_t got = recv(socket_.get(), part.data(), part.size(), 0);
    if (got <= 0) return heard;
    heard.append(part.data(), static_cast<size_t>(got));
    for (size_t at; times > 0 && (at = heard.find(word, from)) != std::string::npos; --times) {
      from = at + text.size();
    }
  }
  return heard;
}

std::string Ask(int port, absl::string_view path, absl::string_view method) {
  const HttpClient client(port);
  client.Say(absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: test\r\n\r\n"));
  return client.Hear();
}

}  // namespace tapedeck::services::admin
