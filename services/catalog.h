// The seam between the catalog handlers and the storage node, in plain values. Field meanings and
// errors are those of tapedeck/v1/catalog.proto; every error carries its reason
// (services/errors.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/flow.h"
#include "dataplane/transport/transport.h"
#include "services/lun_moves.h"
#include "services/recording.h"
#include "services/store_kind.h"

namespace tapedeck::services {

enum class FullPolicy { kStop = 1, kRing = 2 };

// In lun.json and on the command line.
inline constexpr std::pair<FullPolicy, absl::string_view> kFullPolicyNames[] = {
    {FullPolicy::kStop, "stop"}, {FullPolicy::kRing, "ring"}};

enum class LunState { kReady = 1, kOffline = 2 };

struct Lun {
  std::string name;  // luns/{lun}
  std::string uid;
  // What its recordings have for the LUN's uid where that is another one, as in a LUN that was
  // made of a copy; empty: uid. For the storage node alone.
  std::string origin_uid;
  const std::string& recorded_uid() const { return origin_uid.empty() ? uid : origin_uid; }
  StoreKind store = StoreKind::kPosix;
  std::vector<std::string> members;
  uint64_t capacity_bytes = 0;
  uint64_t used_bytes = 0;
  uint64_t recordings = 0;
  int64_t create_time_ns = 0;  // UTC
  FullPolicy full_policy = FullPolicy::kStop;
  int64_t max_age_ns = 0;
  uint32_t max_fill_percent = 0;
  // Files kept per member, and the bytes of each, that were written before recordings need them;
  // both 0: none.
  uint32_t prewrite_files = 0;
  uint64_t prewrite_bytes = 0;
  LunState state = LunState::kReady;
  std::string cause;  // why it is offline
};

struct Channel {
  std::string name;  // luns/{lun}/channels/{channel}
  uint64_t block_bytes = 0;
  std::string datatype;
  double sample_rate = 0;
  // As configured; without a choice READ records and WRITE plays.
  bool op_chosen = false;
  dataplane::TransferOp op = dataplane::TransferOp::kRead;
  dataplane::CommitLevel commit = dataplane::CommitLevel::kDurable;
  int64_t create_time_ns = 0;
  // Both 0: not a triggered channel.
  int64_t pre_trigger_ns = 0;
  int64_t post_trigger_ns = 0;
  bool triggered() const { return pre_trigger_ns + post_trigger_ns > 0; }
  uint64_t segment_bytes = 0;
};

struct LunUpdate;      // catalog_update.h
struct ChannelUpdate;  // the same

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
  int64_t start_time_ns = INT64_MAX;
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
  virtual absl::Status DeleteRecording(const std::string& name) = 0;
  // Reads everything, blocking; `report` returns false to stop early.
  virtual absl::Status VerifyRecording(
      const std::string& name, const std::function<bool(const VerifyProgress&)>& report) = 0;
};

}  // namespace tapedeck::services
