#include "services/rpc/storage_client/dialer.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "services/model/recording/stream.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/inlet_client.h"
#include "services/rpc/client/recorder_client.h"
#include "services/rpc/client/view_client.h"
#include "services/rpc/session_stream/control_streams.h"

namespace tapedeck::services::storage_client {
namespace {

// A node that is slow is waited for, one that is gone is not. Who asks where a job is to run holds
// up its start; annotations of a job that runs have time.
constexpr client::CallTime kTime(absl::Seconds(15), absl::Seconds(5));
constexpr client::CallTime kAnnotatingTime(absl::Seconds(60), absl::Seconds(5));

class GrpcStorageClient final : public StorageClient {
 public:
  GrpcStorageClient(std::shared_ptr<session_stream::StreamOpener> opener,
                    const client::Channel& channel)
      : opener_(std::move(opener)),
        channel_(channel),
        catalog_(channel_, kTime),
        inlets_(channel_, kTime),
        recorder_(channel_, kAnnotatingTime),
        view_(channel_, kAnnotatingTime) {}

  absl::StatusOr<Channel> GetChannel(const std::string& name) override {
    if (!IsInletName(name)) return catalog_.GetChannel(name);
    TD_ASSIGN_OR_RETURN(const Inlet inlet, inlets_.GetInlet(name));
    return AsChannel(inlet);
  }
  absl::StatusOr<Recording> GetRecording(const std::string& name) override {
    TD_ASSIGN_OR_RETURN(Recording found, catalog_.GetRecording(name));
    if (found.stream.empty()) return found;
    const std::string stream = model::StreamNameOf(found);
    const std::string channel = name.substr(0, name.rfind("/recordings/"));
    TD_ASSIGN_OR_RETURN(const std::vector<Recording> all, catalog_.ListRecordings(channel));
    for (const Stream& one : model::StreamsOf(all)) {
      if (one.name == stream) found.annotations = model::AnnotationsBefore(one, UINT64_MAX);
    }
    return found;
  }
  absl::StatusOr<Timeline> GetTimeline(const std::string& recording) override {
    return view_.GetTimeline(recording);
  }
  absl::Status AnnotateStream(const std::string& recording, std::span<const Annotation> annotations,
                              model::Marked* marked) override {
    return recorder_.AnnotateStream(recording, annotations, marked);
  }
  void Cancel() override {
    catalog_.Cancel();
    inlets_.Cancel();
    recorder_.Cancel();
    view_.Cancel();
  }
  std::unique_ptr<session::ControlStream> OpenSession() override { return opener_->Open(channel_); }

 private:
  const std::shared_ptr<session_stream::StreamOpener> opener_;
  const client::Channel channel_;
  client::CatalogClient catalog_;
  client::InletClient inlets_;
  client::RecorderClient recorder_;
  client::ViewClient view_;
};

class GrpcStorageDialer final : public StorageDialer {
 public:
  explicit GrpcStorageDialer(const client::Credentials& credentials) : credentials_(credentials) {}

  std::unique_ptr<StorageClient> Dial(const std::string& address,
                                      const telemetry::trace::Branch& trace,
                                      const std::string& caller) override {
    client::Credentials credentials = credentials_;
    credentials.acting_for = caller;
    return std::make_unique<GrpcStorageClient>(opener_,
                                               client::MakeChannel(address, trace, credentials));
  }

 private:
  const client::Credentials credentials_;
  // Shared with the clients, which may outlive the dialer.
  const std::shared_ptr<session_stream::StreamOpener> opener_ =
      std::make_shared<session_stream::StreamOpener>();
};

}  // namespace

std::unique_ptr<StorageDialer> MakeStorageDialer(const client::Credentials& credentials) {
  return std::make_unique<GrpcStorageDialer>(credentials);
}

}  // namespace tapedeck::services::storage_client
