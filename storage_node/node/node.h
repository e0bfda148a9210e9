// The storage node without its network: what it keeps, and the services that show it. main.cc gives
// the services to the gRPC handlers and the session host to the sessions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/catalog.h"
#include "services/session/host.h"
#include "storage_node/admission/session_host.h"
#include "storage_node/disk/file_lock.h"
#include "storage_node/node/channel_catalog.h"
#include "storage_node/node/lun_catalog.h"
#include "storage_node/node/parts.h"
#include "storage_node/node/recorder_control.h"
#include "storage_node/node/recording_catalog.h"
#include "storage_node/node/rounds.h"
#include "storage_node/recordings/retention.h"
#include "storage_node/scrub/scrubber.h"

namespace tapedeck::storage_node::node {

// Owned by main. Destroyed after the sources and sinks it has admitted. Any thread.
class StorageNode {
 public:
  // Opens everything under state_dir and salvages what a crash left open: waits for the disk.
  // FAILED_PRECONDITION (MEMBER_UNUSABLE) if another process has it. A LUN whose members are not
  // there is offline, the others work.
  static absl::StatusOr<std::unique_ptr<StorageNode>> Create(StorageSettings settings);

  services::LunCatalog& luns() { return luns_; }
  services::ChannelCatalog& channels() { return channels_; }
  services::RecordingCatalog& recordings() { return recordings_; }
  services::RecorderControl& recorder() { return recorder_; }
  services::ScrubControl& scrubs() { return scrubs_; }
  services::session::SessionHost& sessions() { return sessions_; }

  // For the log: the LUNs whose disks have not done what was asked of them; empty: none.
  std::string Waiting() const;

 private:
  StorageNode(disk::FileLock lock, std::unique_ptr<NodeParts> parts)
      : lock_(std::move(lock)), parts_(std::move(parts)) {}
  absl::Status StartRounds();

  const disk::FileLock lock_;
  const std::unique_ptr<NodeParts> parts_;
  LunService luns_{*parts_};
  ChannelService channels_{*parts_};
  RecordingService recordings_{*parts_};
  RecorderService recorder_{*parts_};
  scrub::Scrubber scrubs_{*parts_};
  recordings::Retention retention_{*parts_};
  std::vector<std::unique_ptr<Rounds>> rounds_;
  admission::RecordingHost sessions_{*parts_};
};

// Throws the catalog away and makes it again from the files. No node may run on `state_dir`. Past
// request_ids are forgotten. FAILED_PRECONDITION (LUN_OFFLINE) if the recordings of a LUN could not
// be read: a node reads them once it can. LUNs of which `members` are some are attached first, as
// lun attach does it.
absl::Status RebuildCatalog(const std::string& state_dir,
                            const std::vector<std::string>& members = {});

}  // namespace tapedeck::storage_node::node
