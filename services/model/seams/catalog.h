// The seam between the catalog handlers and the storage node, in plain values. Field meanings and
// errors are those of tapedeck/v1/catalog.proto; every error carries its reason
// (services/base/errors.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/channel.h"
#include "services/model/lun.h"
#include "services/model/recording/recording.h"

namespace tapedeck::services {

struct LunAttachment {
  std::vector<std::string> members;  // in any order
  std::string name;                  // luns/{lun}; empty: as the members say
  bool as_new = false;               // a copy becomes a LUN of its own, under `name`
};

// How a LUN that is there already comes to a storage node, and leaves it. Any thread; each call
// waits for the LUN's disks.
class LunMoves {
 public:
  virtual ~LunMoves() = default;
  // With a name, the same `request_id` gives the same result; it may be empty.
  virtual absl::StatusOr<Lun> AttachLun(const LunAttachment& asked,
                                        const std::string& request_id) = 0;
  virtual absl::Status DetachLun(const std::string& name) = 0;
};

// Any thread; each call may block on the catalog's disk.
class LunCatalog : public LunMoves {
 public:
  // Reads name, store, members, capacity_bytes, the policies and what is prewritten. `request_id`
  // may be empty; the same id gives the same result.
  virtual absl::StatusOr<Lun> CreateLun(const Lun& lun, const std::string& request_id) = 0;
  virtual absl::StatusOr<Lun> GetLun(const std::string& name) = 0;
  virtual absl::StatusOr<std::vector<Lun>> ListLuns() = 0;
  // Waits for the LUN's disks. The same `request_id` gives the same result; it may be empty.
  virtual absl::StatusOr<Lun> UpdateLun(const LunUpdate& update, const std::string& request_id) = 0;
  virtual absl::Status DeleteLun(const std::string& name, bool force) = 0;
};

class ChannelCatalog {
 public:
  virtual ~ChannelCatalog() = default;
  virtual absl::StatusOr<Channel> CreateChannel(const Channel& channel,
                                                const std::string& request_id) = 0;
  virtual absl::StatusOr<Channel> GetChannel(const std::string& name) = 0;
  // `parent` is luns/{lun}; {lun} may be "-".
  virtual absl::StatusOr<std::vector<Channel>> ListChannels(const std::string& parent) = 0;
  // The same.
  virtual absl::StatusOr<Channel> UpdateChannel(const ChannelUpdate& update,
                                                const std::string& request_id) = 0;
  virtual absl::Status DeleteChannel(const std::string& name) = 0;
};

// A place in the order of recordings; the default comes before all.
struct RecordingKey {
  int64_t open_time_ns = INT64_MAX;
  std::string name;
};

class RecordingCatalog {
 public:
  virtual ~RecordingCatalog() = default;
  virtual absl::StatusOr<Recording> GetRecording(const std::string& name) = 0;
  // `parent` is luns/{lun}/channels/{channel}; either id may be "-". Newest first, then by name; at
  // most `most` of those that come after `after` there.
  virtual absl::StatusOr<std::vector<Recording>> RecordingsAfter(const std::string& parent,
                                                                 const RecordingKey& after,
                                                                 size_t most) = 0;
  absl::StatusOr<std::vector<Recording>> ListRecordings(const std::string& parent) {
    return RecordingsAfter(parent, {}, SIZE_MAX);
  }
  // Durably, also while it is recorded into.
  virtual absl::StatusOr<Recording> UpdateRecording(const RecordingUpdate& update) = 0;
  // If it still has that Recording::etag; empty: whatever it has.
  virtual absl::Status DeleteRecording(const std::string& name, const std::string& etag = "") = 0;
  // Reads everything, blocking; `report` returns false to stop early.
  virtual absl::Status VerifyRecording(
      const std::string& name, const std::function<bool(const VerifyProgress&)>& report) = 0;
};

}  // namespace tapedeck::services
