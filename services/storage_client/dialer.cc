#include "services/storage_client/dialer.h"

#include "services/client/catalog_client.h"
#include "services/client/channel.h"
#include "services/session_stream/open_stream.h"

namespace tapedeck::services::storage_client {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(5);

class GrpcStorageClient final : public StorageClient {
 public:
  explicit GrpcStorageClient(const std::string& address)
      : channel_(client::MakeChannel(address)), catalog_(channel_, kTimeout) {}

  absl::StatusOr<Channel> GetChannel(const std::string& name) override {
    return catalog_.GetChannel(name);
  }
  absl::StatusOr<Recording> GetRecording(const std::string& name) override {
    return catalog_.GetRecording(name);
  }
  std::unique_ptr<session::ControlStream> OpenSession() override {
    return session_stream::OpenSessionStream(channel_);
  }

 private:
  const client::Channel channel_;
  client::CatalogClient catalog_;
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
