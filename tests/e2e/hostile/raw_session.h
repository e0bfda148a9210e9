// A session by hand: its control stream and one connection of a rail, which say what they are told
// and nothing by themselves.
#pragma once

#include <grpcpp/client_context.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dataplane/block/frame.h"
#include "tapedeck/v1/session.grpc.pb.h"
#include "tests/e2e/hostile/attack.h"

namespace tapedeck::hostile {

// One thread.
class RawSession {
 public:
  using Stream = grpc::ClientReaderWriter<v1::TransferRequest, v1::TransferResponse>;

  explicit RawSession(const std::shared_ptr<grpc::Channel>& channel);
  ~RawSession();

  // False if the node refused.
  bool Open(const v1::Open& open);
  const v1::Accept& accept() const { return accept_; }

  // Offers a connection, waits for the node's answer and connects. False if the session ended.
  bool ConnectRail(const std::string& rail, uint32_t connection);

  bool Say(const v1::TransferRequest& request) { return stream_->Write(request); }
  // The next message; none once the stream has ended.
  std::optional<v1::TransferResponse> Hear();

  // Sends `frames` one after the other, numbered; false once the connection is gone.
  bool Send(std::span<const dataplane::Frame> frames);

 private:
  void CloseRail();

  const std::unique_ptr<v1::SessionService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  v1::Accept accept_;
  int rail_ = -1;
  uint32_t generation_ = 0;
  uint32_t next_frame_ = 0;
};

v1::Open RecordInto(const std::string& channel, v1::TransferOp op);
v1::Open Play(const std::string& recording, v1::TransferOp op);

// A blocking socket; -1 if nobody is there.
int DialTcp(const std::string& address, uint16_t port);

}  // namespace tapedeck::hostile
