// The storage node without its network: its state, and the services that show it. main.cc gives the
// services to the gRPC handlers and the session host to the sessions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "services/observe/telemetry/page.h"
#include "services/session/serving/host.h"
#include "storage_node/admission/node_resources.h"
#include "storage_node/admission/session_host.h"
#include "storage_node/capture/live_triggers.h"
#include "storage_node/disk/file_lock.h"
#include "storage_node/doctor/checks.h"
#include "storage_node/luns/write_rates.h"
#include "storage_node/moving/mover.h"
#include "storage_node/node/channel_catalog.h"
#include "storage_node/node/lun_catalog.h"
#include "storage_node/node/recorder_control.h"
#include "storage_node/node/recording_catalog.h"
#include "storage_node/node/rounds.h"
#include "storage_node/opening/standbys.h"
#include "storage_node/recordings/retention.h"
#include "storage_node/scrub/scrubber.h"
#include "storage_node/view/viewer.h"

namespace tapedeck::storage_node::node {

struct StorageSettings {
  std::string state_dir;  // exists or its parent does
  // Of sessions' rings, as admission/node_resources.h says.
  size_t ring_slots = admission::RingSettings().ring_slots;
  uint64_t ring_bytes = admission::RingSettings().ring_bytes;
  luns::MemberRoots member_roots;
  // Members of LUNs that other nodes have, until those are gone (opening/standbys.h).
  opening::MembersOfLuns standby_for;
  uint64_t follow_bytes = 1 << 30;  // for the newest blocks of all followed recordings; 0: none
  // Beside those of the sessions, which check what is played themselves if there are none.
  size_t check_threads = 0;
  std::vector<dataplane::Transport*> rails;       // of the sessions; outlive the node
  std::shared_ptr<const dataplane::Clock> clock;  // null: the system's
  format::Random random;                          // null: the system's
  // Sessions do themselves what LUNs' queues are asked for: for simulations, in which nothing
  // waits.
  bool no_queues = false;
  // So long a move or a scrub may get on with nothing before it is given up: as long as a session
  // waits for its LUN.
  absl::Duration patience = absl::Seconds(15);
};

// What a node keeps: its LUNs, and the recordings on them.
struct NodeContents {
  NodeContents(luns::LunsSettings settings, std::shared_ptr<catalog::Catalog> catalog)
      : luns(std::move(settings)), recordings(luns, std::move(catalog)) {}
  // What is queued uses both.
  ~NodeContents() { luns.StopQueues(); }

  luns::Luns luns;
  recordings::Recordings recordings;
};

// Owned by main. Destroyed after the sources and sinks it has admitted. Any thread.
class StorageNode {
 public:
  // Opens everything under state_dir and salvages what a crash left open: waits for the disk.
  // FAILED_PRECONDITION (MEMBER_UNUSABLE) if another process has it. A LUN whose members are not
  // there is offline, the others work.
  static absl::StatusOr<std::unique_ptr<StorageNode>> Create(StorageSettings settings);
  // Waits for rounds under way.
  ~StorageNode() { mover_.AskToStop(); }

  services::LunCatalog& luns() { return luns_; }
  services::ChannelCatalog& channels() { return channels_; }
  services::RecordingCatalog& recordings() { return recordings_; }
  services::RecorderControl& recorder() { return captures_; }
  services::ScrubControl& scrubs() { return scrubs_; }
  services::ViewControl& view() { return viewer_; }
  services::session::SessionHost& sessions() { return sessions_; }
  moving::Mover& mover() { return mover_; }

  // All but its sessions. Does not wait.
  void AddMetrics(services::telemetry::Page& page);

  // Beside those of every machine. Does not wait.
  std::vector<services::doctor::Check> DoctorChecks() {
    return doctor::StorageChecks(contents_->luns, contents_->recordings.catalog(),
                                 resources_.rings.ring_bytes);
  }

  // How its state directory does: recording goes on without. STATE_UNUSABLE. Does not wait.
  absl::Status StateHealth() const { return contents_->recordings.catalog()->health(); }

  // For the log: the LUNs whose disks have not done what was asked of them, and what is moved and
  // scrubbed; empty: nothing.
  std::string Waiting() const;

 private:
  StorageNode(disk::FileLock lock, std::unique_ptr<NodeContents> contents,
              admission::RingSettings rings, std::shared_ptr<recording::WriteVerifier> verifier,
              std::shared_ptr<follow::TailMemory> follow_memory,
              std::shared_ptr<recording::CheckThreads> checks,
              const opening::MembersOfLuns& standby_for, absl::Duration patience)
      : lock_(std::move(lock)),
        resources_{.luns = contents->luns,
                   .recordings = contents->recordings,
                   .triggers = triggers_,
                   .rings = std::move(rings),
                   .verifier = std::move(verifier),
                   .follow_memory = std::move(follow_memory),
                   .checks = std::move(checks)},
        contents_(std::move(contents)),
        patience_(patience),
        standbys_(contents_->recordings, standby_for) {}
  absl::Status StartRounds();

  const disk::FileLock lock_;
  // Outlive the tasks of sessions in queues, which end with `contents_`.
  capture::LiveTriggers triggers_;
  admission::NodeResources resources_;
  const std::unique_ptr<NodeContents> contents_;
  const absl::Duration patience_;
  LunService luns_{contents_->recordings};
  ChannelService channels_{contents_->recordings};
  RecordingService recordings_{contents_->recordings};
  CaptureService captures_{contents_->recordings, triggers_};
  scrub::Scrubber scrubs_{contents_->recordings, patience_};
  view::Viewer viewer_{contents_->recordings};
  recordings::Retention retention_{contents_->recordings};
  luns::WriteRates rates_{contents_->luns};
  opening::Standbys standbys_;
  moving::Mover mover_{resources_, patience_, [this](const services::Channel& channel) {
                         return channels_.CreateChannel(channel, "").status();
                       }};
  std::vector<std::unique_ptr<Rounds>> rounds_;
  admission::RecordingHost sessions_{resources_};
};

// Throws the catalog away and makes it again from the files. No node may run on `state_dir`. Past
// request_ids are forgotten. FAILED_PRECONDITION (LUN_OFFLINE) if the recordings of a LUN could not
// be read: a node reads them once it can. LUNs of which `members` are some are attached first, as
// lun attach does it.
absl::Status RebuildCatalog(const std::string& state_dir,
                            const std::vector<std::string>& members = {},
                            const luns::MemberRoots& member_roots = {});

}  // namespace tapedeck::storage_node::node
