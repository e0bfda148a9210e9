#include "tests/e2e/hostile/raw_session.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "dataplane/transport/tcp/wire.h"
#include "services/session/protocol/messages.h"

namespace tapedeck::hostile {
namespace {

namespace tcp = dataplane::tcp;

constexpr int64_t kPatienceS = 5;

bool SendAll(int fd, const std::byte* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

v1::Open HostileOpen(v1::Direction direction, v1::TransferOp op) {
  v1::Open open;
  open.set_version(services::session::kProtocolVersion);
  open.set_direction(direction);
  open.set_recorder("hostile");
  open.set_transfer_op(op);
  open.set_slots(1 << 20);
  return open;
}

bool GreetRail(int fd, const std::string& token) {
  tcp::Hello hello;
  std::memcpy(hello.token.data(), token.data(), std::min(token.size(), hello.token.size()));
  const tcp::HelloBytes bytes = tcp::EncodeHello(hello);
  tcp::HelloBytes answer;
  if (!SendAll(fd, bytes.data(), bytes.size())) return false;
  if (recv(fd, answer.data(), answer.size(), MSG_WAITALL) != ssize_t{tcp::kHelloBytes}) {
    return false;
  }
  const auto decoded = tcp::DecodeHello(answer);
  return decoded.has_value() && decoded->verdict == tcp::Verdict::kWelcome;
}

}  // namespace

int DialTcp(const std::string& address, uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(port)};
  to.sin_addr.s_addr = inet_addr(address.c_str());
  const timeval patience{.tv_sec = kPatienceS};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0) return fd;
  close(fd);
  return -1;
}

RawSession::RawSession(const std::shared_ptr<grpc::Channel>& channel)
    : stub_(v1::SessionService::NewStub(channel)), stream_(stub_->Transfer(&context_)) {}

RawSession::~RawSession() {
  CloseRail();
  context_.TryCancel();
  stream_->Finish();
}

void RawSession::CloseRail() {
  if (rail_ >= 0) close(rail_);
  rail_ = -1;
}

std::optional<v1::TransferResponse> RawSession::Hear() {
  v1::TransferResponse response;
  if (!stream_->Read(&response)) return std::nullopt;
  return response;
}

bool RawSession::Open(const v1::Open& open) {
  v1::TransferRequest request;
  *request.mutable_open() = open;
  if (!Say(request)) return false;
  auto answer = Hear();
  while (answer.has_value() && answer->has_progress()) answer = Hear();  // what it is still at
  if (!answer.has_value() || !answer->has_accept()) return false;
  accept_ = answer->accept();
  return true;
}

bool RawSession::ConnectRail(const std::string& rail, uint32_t connection) {
  CloseRail();
  v1::TransferRequest request;
  v1::RailOffer& offer = *request.mutable_rail_offer();
  offer.set_rail(rail);
  offer.set_connection(connection);
  offer.set_generation(++generation_);
  offer.mutable_tcp()->set_address("127.0.0.1");
  offer.mutable_tcp()->set_token(std::string(16, 0));
  if (!Say(request)) return false;
  while (const auto answer = Hear()) {
    if (answer->has_finished()) return false;
    if (!answer->has_rail_offer()) continue;
    const v1::TcpEndpoint& end = answer->rail_offer().tcp();
    rail_ = DialTcp(end.address(), static_cast<uint16_t>(end.port()));
    next_frame_ = 0;
    return rail_ >= 0 && GreetRail(rail_, end.token());
  }
  return false;
}

bool RawSession::Send(std::span<const dataplane::Frame> frames) {
  std::vector<std::byte> bytes(frames.size() * tcp::kPreambleBytes);
  std::span<std::byte> rest(bytes);
  for (dataplane::Frame frame : frames) {
    frame.number = next_frame_++;
    tcp::EncodeOpHeader({.kind = tcp::OpKind::kSend}, rest.first<tcp::kOpHeaderBytes>());
    const dataplane::FrameBytes encoded = dataplane::EncodeFrame(frame);
    std::ranges::copy(encoded, rest.subspan(tcp::kOpHeaderBytes).begin());
    rest = rest.subspan(tcp::kPreambleBytes);
  }
  return SendAll(rail_, bytes.data(), bytes.size());
}

v1::Open RecordInto(const std::string& channel, v1::TransferOp op) {
  v1::Open open = HostileOpen(v1::DIRECTION_RECORD, op);
  open.set_channel(channel);
  return open;
}

v1::Open Play(const std::string& recording, v1::TransferOp op) {
  v1::Open open = HostileOpen(v1::DIRECTION_PLAYBACK, op);
  open.set_recording(recording);
  return open;
}

}  // namespace tapedeck::hostile
