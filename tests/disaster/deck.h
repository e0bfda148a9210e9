// A storage node without its rounds and its network: what it keeps, opened as it opens it, and the
// services that show it. What a round does again and again, the test does when it wants to.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "storage_node/node/node.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::disaster {

// Set by hand.
class WallClock final : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return now_ns; }
  int64_t WallNs() const override { return kStartNs + now_ns; }
  static constexpr int64_t kStartNs = storage_node::ManualClock::kStartNs;
  int64_t now_ns = 1'000;
};

class Deck {
 public:
  // As StorageNode::Create: salvages what a crash left open. Errors are those of that.
  static absl::StatusOr<std::unique_ptr<Deck>> Start(const std::string& state_dir,
                                                     std::shared_ptr<const WallClock> clock,
                                                     storage_node::format::Random random);

  services::LunCatalog& luns() { return luns_; }
  services::ChannelCatalog& channels() { return channels_; }
  services::RecordingCatalog& recordings() { return recordings_; }
  services::RecorderControl& recorder() { return captures_; }
  storage_node::recordings::Recordings& kept() { return contents_->recordings; }

  absl::StatusOr<services::session::Admission> Admit(const services::session::Open& open,
                                                     storage_node::ManualExecutor& executor);
  // A round of the policies of every LUN that is open.
  void ApplyPolicies();
  // As a node does beside all else.
  void ReadAccounts();

 private:
  explicit Deck(std::unique_ptr<storage_node::node::NodeContents> contents)
      : contents_(std::move(contents)) {}

  // In the order in which StorageNode has them.
  storage_node::capture::LiveTriggers triggers_;
  const std::unique_ptr<storage_node::node::NodeContents> contents_;
  storage_node::admission::NodeResources resources_{
      .luns = contents_->luns,
      .recordings = contents_->recordings,
      .triggers = triggers_,
      .rings = {.ring_slots = 8, .ring_bytes = 1 << 20, .rails = {}},
      .verifier =
          std::make_shared<storage_node::recording::WriteVerifier>(contents_->luns.random()),
      .follow_memory = nullptr,
      .checks = nullptr};
  storage_node::node::LunService luns_{contents_->recordings};
  storage_node::node::ChannelService channels_{contents_->recordings};
  storage_node::node::RecordingService recordings_{contents_->recordings};
  storage_node::node::CaptureService captures_{contents_->recordings, triggers_};
  storage_node::admission::RecordingHost sessions_{resources_};
};

}  // namespace tapedeck::disaster
