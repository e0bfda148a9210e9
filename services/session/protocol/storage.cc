#include "services/session/protocol/storage.h"

#include <atomic>
#include <string>
#include <utility>

namespace tapedeck::services {
namespace {

class StandbyClient final : public StorageClient {
 public:
  explicit StandbyClient(std::vector<std::unique_ptr<StorageClient>> nodes)
      : nodes_(std::move(nodes)) {}

  absl::StatusOr<Channel> GetChannel(const std::string& name) override {
    return nodes_.front()->GetChannel(name);
  }
  absl::StatusOr<Recording> GetRecording(const std::string& name) override {
    return nodes_[current_]->GetRecording(name);
  }
  absl::StatusOr<Timeline> GetTimeline(const std::string& recording) override {
    return nodes_[current_]->GetTimeline(recording);
  }
  absl::Status AnnotateStream(const std::string& recording, std::span<const Annotation> annotations,
                              model::Marked* marked) override {
    return nodes_[current_]->AnnotateStream(recording, annotations, marked);
  }
  void Cancel() override {
    for (const auto& node : nodes_) node->Cancel();
  }
  std::unique_ptr<session::ControlStream> OpenSession() override { return OpenAt(0); }
  std::unique_ptr<session::ControlStream> OpenStandby(size_t standby) override {
    return standby < nodes_.size() - 1 ? OpenAt(standby + 1) : nullptr;
  }

 private:
  std::unique_ptr<session::ControlStream> OpenAt(size_t node) {
    current_ = node;
    return nodes_[node]->OpenSession();
  }

  const std::vector<std::unique_ptr<StorageClient>> nodes_;  // the first one first
  std::atomic<size_t> current_ = 0;
};

}  // namespace

std::unique_ptr<StorageClient> WithStandbys(std::unique_ptr<StorageClient> first,
                                            std::vector<std::unique_ptr<StorageClient>> standbys) {
  if (standbys.empty()) return first;
  standbys.insert(standbys.begin(), std::move(first));
  return std::make_unique<StandbyClient>(std::move(standbys));
}

}  // namespace tapedeck::services
