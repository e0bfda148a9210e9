// Admits record sessions to one recording on a simulated disk, and lets them go on with it, as a
// storage node does: with its own writer and recovery, and the steps of its admission.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "dataplane/clock.h"
#include "services/session/serving/host.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/recording/writing/writer_start.h"
#include "storage_node/store/store.h"
#include "tests/sim/disks/fault_disk.h"

namespace tapedeck::sim {

struct ResumeHostSettings {
  uint32_t members = 1;
  uint64_t block_bytes = 0;
  std::string channel = "c";
  // Of a session; its slots may be larger than the blocks. Null: a small one of the store.
  std::function<std::shared_ptr<dataplane::SlotPool>()> make_ring;
};

// Owned by the test, on one thread. `disk` and `clock` outlive it.
class ResumeHost final : public services::session::SessionHost {
 public:
  ResumeHost(FaultDisk& disk, const ResumeHostSettings& settings, const dataplane::Clock& clock);

  void Admit(const services::session::Open& open, dataplane::Executor& executor,
             std::shared_ptr<services::session::AdmissionWatch> watch,
             services::session::OnAdmitted admitted) override;

  storage_node::store::RecordingPath path() const {
    return {.channel = settings_.channel, .recording = "r", .members = settings_.members};
  }
  storage_node::store::Store& store() { return *store_; }
  // The process ends, perhaps with the power; its sessions are gone already.
  void Stop(bool power_cut);
  void Start();
  // Of the recording, closed if it was not. Once no session is left.
  absl::StatusOr<storage_node::format::Manifest> Close();

 private:
  absl::StatusOr<services::session::Admission> Record(const services::session::Open& open,
                                                      dataplane::Executor& executor);
  absl::StatusOr<services::session::Admission> MakeAdmission(
      const services::session::Open& open, storage_node::recording::WriterStart start,
      std::unique_ptr<storage_node::store::RecordingFiles> files, dataplane::Executor& executor);

  FaultDisk& disk_;
  const ResumeHostSettings settings_;
  const dataplane::Clock& clock_;
  std::unique_ptr<storage_node::store::Store> store_;
  storage_node::format::Manifest manifest_;
  std::weak_ptr<storage_node::recording::LiveRecording> live_;
};

}  // namespace tapedeck::sim
