// A channel: a configured stream of a LUN. Field meanings are those of tapedeck/v1/catalog.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "dataplane/block/flow.h"
#include "dataplane/transport/transport.h"
#include "services/model/words/description.h"
#include "services/model/words/field.h"
#include "services/model/words/update.h"

namespace tapedeck::services::model {

// Below the least the costs per block rule, the most is the largest RDMA message of the slowest
// device; direct I/O aligns to the multiple, and so do all offsets of blocks.
inline constexpr uint64_t kMinBlockBytes = 64 << 10;
inline constexpr uint64_t kMaxBlockBytes = 8 << 20;
inline constexpr uint64_t kBlockAlignment = 4096;
// Of Channel::move_after_ns.
inline constexpr int64_t kMinMoveAfterNs = 1'000'000'000;

struct Channel {
  std::string name;  // luns/{lun}/channels/{channel}
  uint64_t block_bytes = 0;
  std::string datatype;
  double sample_rate = 0;
  std::optional<dataplane::TransferOp> op;  // none: READ records and WRITE plays
  dataplane::CommitLevel commit = dataplane::CommitLevel::kDurable;
  // Both 0: not a triggered channel.
  int64_t pre_trigger_ns = 0;
  int64_t post_trigger_ns = 0;
  bool triggered() const { return pre_trigger_ns + post_trigger_ns > 0; }
  uint64_t segment_bytes = 0;
  std::string description;
  Labels labels;
  int64_t create_time_ns = 0;
  std::string move_to;        // luns/{lun}; empty: its recordings stay
  int64_t move_after_ns = 0;  // not 0 where there is a `move_to`
  uint64_t move_bytes_per_s = 0;
};

template <>
struct Fields<Channel> {
  static constexpr auto kList = std::make_tuple(
      Describe(&Channel::name, {.name = "name",
                                .role = Role::kName,
                                .fixed = "its recordings lie under it; make another channel"}),
      Describe(&Channel::block_bytes, {.name = "block_bytes",
                                       .unit = Unit::kBytes,
                                       .most = kMaxBlockBytes,
                                       .option = "block-bytes",
                                       .help = "Payload per block, 64KiB to 8MiB",
                                       .initial = "1MiB"}),
      Describe(&Channel::datatype, {.name = "datatype",
                                    .option = "datatype",
                                    .help = "SigMF datatype, e.g. ci16_le",
                                    .initial = "cf32_le"}),
      Describe(&Channel::sample_rate, {.name = "sample_rate",
                                       .option = "sample-rate",
                                       .help = "Samples per second, e.g. 1e9",
                                       .zero = "unknown"}),
      Describe(&Channel::op, {.name = "transfer_op",
                              .option = "transfer-op",
                              .help = "READ, WRITE or SEND",
                              .zero = "READ to record, WRITE to play"}),
      Describe(&Channel::commit, {.name = "commit_level",
                                  .option = "commit",
                                  .help = "received, written or durable",
                                  .initial = "durable"}),
      Describe(&Channel::pre_trigger_ns,
               {.name = "pre_trigger",
                .unit = Unit::kDuration,
                .option = "pre-trigger",
                .help = "Time to keep before a trigger, e.g. 2s; in memory with --commit received, "
                        "otherwise in the segments of a ring LUN",
                .zero = "nothing"}),
      Describe(&Channel::post_trigger_ns, {.name = "post_trigger",
                                           .unit = Unit::kDuration,
                                           .option = "post-trigger",
                                           .help = "Time to keep after a trigger, e.g. 2s",
                                           .zero = "nothing"}),
      Describe(&Channel::segment_bytes,
               {.name = "segment_bytes",
                .unit = Unit::kBytes,
                .option = "segment",
                .help = "Start a new segment after this much payload, e.g. 10GiB",
                .zero = "never, in a ring LUN after 1/64 of it"}),
      Describe(&Channel::move_after_ns,
               {.name = "move_after",
                .unit = Unit::kDuration,
                .option = "after",
                .help = "With --move-to: delay after the end of a recording, e.g. 1h"}),
      Describe(&Channel::move_to,
               {.name = "move_to",
                .option = "move-to",
                .help = "Move recordings to this LUN of the node, --after their end; \"\": never"}),
      Describe(&Channel::move_bytes_per_s,
               {.name = "move_rate_bytes_per_second",
                .unit = Unit::kBytes,
                .option = "move-rate",
                .help = "With --move-to: limit in bytes per second, e.g. 200MB",
                .zero = "100 MB"}),
      Describe(&Channel::description,
               {.name = "description", .option = "description", .help = "Description for people"}),
      Describe(&Channel::labels, {.name = "labels",
                                  .option = "label",
                                  .help = "NAME=VALUE, for programs; repeat it for several",
                                  .zero = "no labels"}),
      Describe(&Channel::create_time_ns,
               {.name = "create_time", .role = Role::kNoted, .unit = Unit::kTime}));
};

using ChannelUpdate = Update<Channel>;

// What any channel must be; what its LUN asks of it besides, the storage node knows.
// INVALID_ARGUMENT (BLOCK_SIZE_INVALID, DATATYPE_INVALID, ARGUMENT_INVALID).
absl::Status CheckChannel(const Channel& channel);

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::Channel;
using model::ChannelUpdate;

}  // namespace tapedeck::services
