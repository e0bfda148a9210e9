#include "dataplane/transport/tcp/listener.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::tcp {
namespace {

// A guest that says nothing for this long is dropped; longer would let strangers pile up
// descriptors.
constexpr int64_t kHelloDeadlineNs = 5 * kSecondNs;

// Guests at the same time, so that a flood cannot use up the descriptors of running sessions. For
// one more the oldest must go: an honest peer says its hello at once, and has no time to grow old.
constexpr size_t kMaxGuests = 128;

// How long nobody is accepted when there are no descriptors; shorter would be spinning.
constexpr int64_t kRestNs = 100 * kMillisecondNs;

void Answer(const Fd& socket, Verdict verdict) {
  const HelloBytes bytes = EncodeHello({.verdict = verdict});
  // 32 bytes always fit into the buffer of a fresh socket; if the peer is gone, the connection will
  // say so.
  [[maybe_unused]] const ssize_t sent =
      send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Create(EventLoop& poller, std::string rail,
                                                           const std::string& address,
                                                           uint16_t port) {
  TD_ASSIGN_OR_RETURN(Fd socket, Listen(address, port));
  auto listener =
      std::unique_ptr<Listener>(new Listener(poller, std::move(rail), std::move(socket)));
  TD_RETURN_IF_ERROR(listener->Watch());
  return listener;
}

absl::Status Listener::Watch() {
  return poller_.Watch(socket_.get(), EPOLLIN, lifetime_.Guard([this](uint32_t) { AcceptAll(); }));
}

Listener::~Listener() {
  poller_.Unwatch(socket_.get());
  for (const auto& [fd, guest] : guests_) poller_.Unwatch(fd);
}

void Listener::Expect(const Token& token, OnConnected on_connected) {
  absl::MutexLock lock(&mutex_);
  expected_[token] = std::move(on_connected);
}

void Listener::Forget(const Token& token) {
  absl::MutexLock lock(&mutex_);
  expected_.erase(token);
}

// Null if nobody with that token is expected.
Listener::OnConnected Listener::TakeExpected(const Token& token) {
  absl::MutexLock lock(&mutex_);
  const auto expected = expected_.extract(token);
  return expected.empty() ? nullptr : std::move(expected.mapped());
}

void Listener::AcceptAll() {
  while (true) {
    absl::StatusOr<Fd> socket = Accept(socket_);
    if (absl::IsResourceExhausted(socket.status())) return Rest(socket.status());
    if (!socket.ok()) return;
    if (guests_.size() >= kMaxGuests) DismissOldest();
    Admit(*std::move(socket));
  }
}

void Listener::Admit(Fd socket) {
  const int fd = socket.get();
  const uint64_t id = next_guest_++;
  guests_[fd] = Guest{.socket = std::move(socket), .id = id};
  const absl::Status watched =
      poller_.Watch(fd, EPOLLIN, lifetime_.Guard([this, fd](uint32_t) { Receive(fd); }));
  if (!watched.ok()) {
    guests_.erase(fd);
    return;
  }
  poller_.PostAfter(kHelloDeadlineNs, lifetime_.Guard([this, fd, id] {
    const auto guest = guests_.find(fd);
    if (guest != guests_.end() && guest->second.id == id) Dismiss(fd, "said nothing in 5 s");
  }));
}

void Listener::Rest(const absl::Status& why) {
  Log(LogLevel::kWarning, "transport/tcp", "accepting no connections for 100 ms",
      {{"rail", rail_}, {"why", std::string(why.message())}});
  poller_.Unwatch(socket_.get());
  if (!guests_.empty()) DismissOldest();  // its descriptor serves the next one
  poller_.PostAfter(kRestNs, lifetime_.Guard([this] {
    const absl::Status watched = Watch();
    if (!watched.ok()) Rest(watched);
  }));
}

void Listener::DismissOldest() {
  const auto oldest =
      std::ranges::min_element(guests_, {}, [](const auto& guest) { return guest.second.id; });
  Dismiss(oldest->first, "was the oldest of too many that had not said hello");
}

void Listener::Receive(int fd) {
  Guest& guest = guests_.at(fd);
  const ssize_t got =
      recv(fd, guest.hello.data() + guest.bytes, guest.hello.size() - guest.bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return Dismiss(fd, "closed the connection before its hello");
  guest.bytes += static_cast<size_t>(got);
  if (guest.bytes == guest.hello.size()) Greet(guest);
}

void Listener::Greet(Guest& guest) {
  const int fd = guest.socket.get();
  const std::optional<Hello> hello = DecodeHello(guest.hello);
  if (!hello.has_value()) return Dismiss(fd, "sent bytes that are not a hello");
  if (hello->version != kWireVersion) {
    Answer(guest.socket, Verdict::kWrongVersion);
    return Dismiss(fd,
                   absl::StrCat("speaks wire version ", hello->version, ", not ", kWireVersion));
  }
  const OnConnected on_connected = TakeExpected(hello->token);
  if (on_connected == nullptr) {
    Answer(guest.socket, Verdict::kUnknownToken);
    return Dismiss(fd, "has no valid session token");
  }
  Answer(guest.socket, Verdict::kWelcome);
  poller_.Unwatch(fd);
  Fd socket = std::move(guest.socket);
  guests_.erase(fd);
  on_connected(std::move(socket));
}

void Listener::Dismiss(int fd, const std::string& why) {
  Log(LogLevel::kWarning, "transport/tcp", "refused a connection",
      {{"rail", rail_}, {"peer", PeerAddress(guests_.at(fd).socket).text()}, {"why", why}});
  poller_.Unwatch(fd);
  guests_.erase(fd);
}

}  // namespace tapedeck::dataplane::tcp
