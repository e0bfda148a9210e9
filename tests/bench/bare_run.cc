#include "tests/bench/bare_run.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/fd.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/now.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/tcp/socket.h"

namespace tapedeck::bench {
namespace {

using dataplane::Fd;
using dataplane::Memory;

// As our own connections receive: what is checked is still in the cache.
constexpr size_t kPieceBytes = 256 << 10;
constexpr uint64_t kHotBytes = 8 << 20;
constexpr absl::Duration kWarmUp = absl::Milliseconds(500);
constexpr int kDeadlineMs = 5000;  // of a peer that does nothing

struct Ends {
  Fd sends;
  Fd receives;
};

absl::Status Ready(const Fd& socket, short events, const char* what) {
  pollfd wanted{.fd = socket.get(), .events = events};
  if (poll(&wanted, 1, kDeadlineMs) == 1) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(what, ": nothing within 5 s"));
}

absl::StatusOr<Ends> Connect(const std::string& address) {
  TD_ASSIGN_OR_RETURN(const Fd listener, dataplane::tcp::Listen(address, 0));
  Ends ends;
  TD_ASSIGN_OR_RETURN(ends.sends, dataplane::tcp::StartConnect(
                                      address, address, dataplane::LocalAddress(listener).port()));
  TD_RETURN_IF_ERROR(Ready(listener, POLLIN, "accept"));
  TD_ASSIGN_OR_RETURN(ends.receives, dataplane::tcp::Accept(listener));
  TD_RETURN_IF_ERROR(Ready(ends.sends, POLLOUT, "connect"));
  TD_RETURN_IF_ERROR(dataplane::tcp::ConnectResult(ends.sends));
  return ends;
}

// Moves all of `bytes` by sendmsg or recvmsg; false once the connection has ended.
template <typename Call>
bool MoveAll(const Fd& socket, std::span<std::byte> bytes, short events, Call call) {
  while (!bytes.empty()) {
    iovec piece{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    const ssize_t moved = call(socket.get(), &message, MSG_NOSIGNAL);
    if (moved > 0) {
      bytes = bytes.subspan(static_cast<size_t>(moved));
    } else if (moved == 0 || errno != EAGAIN || !Ready(socket, events, "move").ok()) {
      return false;
    }
  }
  return true;
}

void SendBlocks(const Fd& socket, std::span<std::byte> memory, size_t block_bytes) {
  for (size_t at = 0;; at = (at + block_bytes) % memory.size()) {
    if (!MoveAll(socket, memory.subspan(at, block_bytes), POLLOUT, sendmsg)) return;
  }
}

void ReceiveBlocks(const Fd& socket, std::span<std::byte> memory, bool crc,
                   std::atomic<uint64_t>& received) {
  std::atomic<uint32_t> sum = 0;  // what is computed is used
  const int low_mark = kPieceBytes;
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVLOWAT, &low_mark, sizeof(low_mark));
  for (size_t at = 0;; at = (at + kPieceBytes) % memory.size()) {
    const auto piece = memory.subspan(at, kPieceBytes);
    if (!MoveAll(socket, piece, POLLIN, recvmsg)) return;
    if (crc) sum = dataplane::Crc32c(piece);
    received += piece.size();
  }
}

struct Pair {
  Ends ends;
  std::unique_ptr<Memory> from;
  std::unique_ptr<Memory> into;
  std::thread sender;
  std::thread receiver;
};

// Ends both threads, whatever they are doing.
void End(Pair& pair) {
  shutdown(pair.ends.sends.get(), SHUT_RDWR);
  shutdown(pair.ends.receives.get(), SHUT_RDWR);
  if (pair.sender.joinable()) pair.sender.join();
  if (pair.receiver.joinable()) pair.receiver.join();
}

uint64_t RoundedUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

absl::StatusOr<std::vector<Pair>> MakePairs(const BareRun& run) {
  std::vector<Pair> pairs(run.addresses.size() * run.connections);
  const uint64_t unit = RoundedUp(run.block_bytes, kPieceBytes);
  const auto each = [&](uint64_t bytes, uint64_t unit) {
    return RoundedUp(bytes == 0 ? kHotBytes : bytes / pairs.size(), unit);
  };
  for (size_t i = 0; i < pairs.size(); ++i) {
    TD_ASSIGN_OR_RETURN(pairs[i].ends, Connect(run.addresses[i % run.addresses.size()]));
    TD_ASSIGN_OR_RETURN(pairs[i].from,
                        dataplane::host::Create(each(run.from_bytes, run.block_bytes)));
    TD_ASSIGN_OR_RETURN(pairs[i].into, dataplane::host::Create(each(run.into_bytes, unit)));
  }
  return pairs;
}

}  // namespace

absl::StatusOr<double> RunBare(const BareRun& run) {
  std::atomic<uint64_t> received = 0;
  TD_ASSIGN_OR_RETURN(std::vector<Pair> pairs, MakePairs(run));
  for (Pair& pair : pairs) {
    pair.sender = std::thread(
        [&pair, &run] { SendBlocks(pair.ends.sends, pair.from->window().bytes, run.block_bytes); });
    pair.receiver = std::thread([&pair, &run, &received] {
      ReceiveBlocks(pair.ends.receives, pair.into->window().bytes, run.crc, received);
    });
  }
  absl::SleepFor(kWarmUp);
  const uint64_t before = received;
  const absl::Time began = dataplane::SteadyTime();
  absl::SleepFor(absl::Seconds(run.seconds));
  const auto bytes = static_cast<double>(received - before);
  const double seconds = absl::ToDoubleSeconds(dataplane::SteadyTime() - began);
  for (Pair& pair : pairs) End(pair);
  return bytes / seconds / 1e6;
}

}  // namespace tapedeck::bench
