#include "services/storage_client/dialer.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <utility>

#include "services/client/call_status.h"
#include "services/client/channel.h"
#include "services/convert/catalog.h"
#include "services/session_stream/open_stream.h"
#include "tapedeck/v1/catalog.grpc.pb.h"

namespace tapedeck::services::storage_client {
namespace {

constexpr std::chrono::seconds kDeadline(5);

class GrpcStorageClient final : public StorageClient {
 public:
  explicit GrpcStorageClient(const std::string& address)
      : channel_(client::MakeChannel(address)),
        stub_(v1::CatalogService::NewStub(channel_.channel)) {}

  absl::StatusOr<Channel> GetChannel(const std::string& name) override {
    return Get<v1::GetChannelRequest, v1::Channel>(name, &v1::CatalogService::Stub::GetChannel);
  }

  absl::StatusOr<Recording> GetRecording(const std::string& name) override {
    return Get<v1::GetRecordingRequest, v1::Recording>(name,
                                                       &v1::CatalogService::Stub::GetRecording);
  }

  std::unique_ptr<session::ControlStream> OpenSession() override {
    return session_stream::OpenSessionStream(channel_);
  }

 private:
  template <typename Request, typename Response>
  auto Get(const std::string& name,
           grpc::Status (v1::CatalogService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                            Response*))
      -> decltype(convert::FromProto(std::declval<Response>())) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    Request request;
    request.set_name(name);
    Response response;
    const grpc::Status status = ((*stub_).*method)(&context, request, &response);
    if (!status.ok()) return client::CallStatus(status, channel_.address);
    return convert::FromProto(response);
  }

  const client::Channel channel_;
  const std::unique_ptr<v1::CatalogService::Stub> stub_;
};

class GrpcStorageDialer final : public StorageDialer {
 public:
  std::unique_ptr<StorageClient> Dial(const std::string& address) override {
    return std::make_unique<GrpcStorageClient>(address);
  }
};

}  // namespace

std::unique_ptr<StorageDialer> MakeStorageDialer() { return std::make_unique<GrpcStorageDialer>(); }

}  // namespace tapedeck::services::storage_client
