// Admits sessions to recordings on a simulated disk, with the storage node's own writer and reader.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "services/session/serving/host.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"

namespace tapedeck::sim {

// Owned by the test. What the store lies on outlives it.
class DiskHost final : public services::session::SessionHost {
 public:
  DiskHost(std::unique_ptr<storage_node::store::Store> store, uint32_t members,
           uint64_t block_bytes);

  void Admit(const services::session::Open& open, dataplane::Executor& executor,
             std::shared_ptr<services::session::AdmissionWatch> watch,
             services::session::OnAdmitted admitted) override;

  static storage_node::store::RecordingPath path() { return {.channel = "c", .recording = "r"}; }
  storage_node::store::Store& store() { return *store_; }
  // As a node that ends, and one that starts.
  void CloseStore() { store_ = nullptr; }
  void SetStore(std::unique_ptr<storage_node::store::Store> store) { store_ = std::move(store); }
  // Of the recording to play.
  void SetManifest(storage_node::format::Manifest manifest) { manifest_ = std::move(manifest); }

 private:
  absl::StatusOr<services::session::Admission> Record(const services::session::Open& open,
                                                      dataplane::Executor& executor);
  absl::StatusOr<services::session::Admission> Play(const services::session::Open& open,
                                                    dataplane::Executor& executor);

  std::unique_ptr<storage_node::store::Store> store_;
  storage_node::format::Manifest manifest_;
};

}  // namespace tapedeck::sim
