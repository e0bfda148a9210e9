// What a job is asked for, in plain values. Field meanings are those of tapedeck/v1/pipeline.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataplane/clock.h"
#include "dataplane/transport/transport.h"
#include "services/base/trace/span.h"
#include "services/model/playhead.h"
#include "services/model/recording/group.h"
#include "services/model/recording/part.h"
#include "services/model/words/field.h"
#include "services/model/words/stage_spec.h"
#include "services/model/words/timing.h"

namespace tapedeck::services {

// Of TransferSpec::device: a job on each of them.
inline constexpr absl::string_view kAllDevices = "all";

inline constexpr size_t kMaxStandbys = 8;
// A ring of more slots than this is a typing error: 32 GiB at 8 MiB per block.
inline constexpr uint32_t kMaxSlots = 4096;

// What record and playback share. `slots` 0: the worker chooses.
struct TransferSpec {
  std::string storage;                // HOST:PORT
  std::vector<std::string> standbys;  // record: the same of nodes that it may go on at; at most 8
  std::optional<model::GroupMember> group;  // record: that it is one of
  std::string target;                       // name of the channel (record) or recording (playback)
  std::vector<StageSpec> transforms;        // in this order
  std::vector<std::string> rails;           // empty: those nearest to the memory
  std::string device;                       // empty: the one with the fewest jobs
  uint32_t slots = 0;
  std::optional<dataplane::TransferOp> op;
  std::string request_id;
  telemetry::trace::Branch trace;  // of the call that asks for it; not sent
  std::string caller;              // who asks, by its certificate; empty: not known. Not sent
};

// How long a job tries to go on with its recording once its session is lost. Longer than a storage
// node takes to start again; a source that cannot wait loses samples all that time.
inline constexpr int64_t kDefaultResumeForNs = 30 * dataplane::kSecondNs;
inline constexpr int64_t kMaxResumeForNs = 3600 * dataplane::kSecondNs;

// A second recording, of what a job records into its own channel.
struct OutputSpec {
  std::string channel;
  std::vector<StageSpec> transforms;  // in this order
};

struct RecordSpec {
  TransferSpec transfer;
  StageSpec source;
  uint64_t blocks = 0;                          // 0: no such limit
  int64_t duration_ns = 0;                      // 0: no such limit
  int64_t resume_for_ns = kDefaultResumeForNs;  // 0: it fails at once
  int64_t at_ns = 0;                            // UTC; 0: as soon as it can be
  uint32_t copies = 1;                          // of each block, each on a node of its own
  std::vector<OutputSpec> outputs;              // at most one

  // Whether it ends also if its source does not.
  bool limited() const { return blocks > 0 || duration_ns > 0; }
};

struct PlaybackSpec {
  TransferSpec transfer;
  StageSpec sink;
  model::Playhead playhead;
  model::Pacing pacing;
};

}  // namespace tapedeck::services

namespace tapedeck::services::model {

// Without the target, which is the channel of one message and the recording of another.
template <>
struct Fields<TransferSpec> {
  static constexpr auto kList =
      std::make_tuple(Describe(&TransferSpec::storage, {.name = "storage", .in_some = true}),
                      Describe(&TransferSpec::standbys,
                               {.name = "standbys", .most = kMaxStandbys, .in_some = true}),
                      Describe(&TransferSpec::group, {.name = "group", .in_some = true}),
                      Describe(&TransferSpec::transforms, {.name = "transforms", .most = 16}),
                      Describe(&TransferSpec::rails, {.name = "rails", .most = 64}),
                      Describe(&TransferSpec::device, {.name = "device"}),
                      Describe(&TransferSpec::slots, {.name = "slots",
                                                      .most = kMaxSlots,
                                                      .option = "slots",
                                                      .help = "Blocks in the worker's ring"}),
                      Describe(&TransferSpec::op, {.name = "transfer_op", .in_some = true}),
                      Describe(&TransferSpec::request_id, {.name = "request_id"}));
};

template <>
struct Fields<OutputSpec> {
  static constexpr auto kList =
      std::make_tuple(Describe(&OutputSpec::channel, {.name = "channel"}),
                      Describe(&OutputSpec::transforms, {.name = "transforms", .most = 16}));
};

// Beside those of its transfer. Of the duration and the blocks the message has one: the later one.
template <>
struct Fields<RecordSpec> {
  static constexpr auto kList = std::make_tuple(
      Describe(&RecordSpec::source, {.name = "source"}),
      Describe(&RecordSpec::duration_ns, {.name = "duration", .unit = Unit::kDuration}),
      Describe(&RecordSpec::blocks, {.name = "blocks"}),
      Describe(&RecordSpec::resume_for_ns,
               {.name = "resume_for",
                .unit = Unit::kDuration,
                .most = kMaxResumeForNs,
                .keeps = true,
                .option = "resume-for",
                .help = "Time to try to resume if the storage node is lost; 0s: none",
                .initial = "30s"}),
      Describe(
          &RecordSpec::at_ns,
          {.name = "at",
           .unit = Unit::kTime,
           .option = "at",
           .help = "Earliest UTC time of the first sample, within a day: 2026-01-31T12:00:00.5Z"}),
      Describe(&RecordSpec::copies, {.name = "copies",
                                     .most = kMaxPartCopies,
                                     .keeps = true,
                                     .option = "copies",
                                     .help = "Nodes of --storage that get each block, 1 or 2",
                                     .initial = "1"}),
      Describe(&RecordSpec::outputs, {.name = "outputs", .most = 1}));
};

template <>
struct Fields<PlaybackSpec> {
  static constexpr auto kList =
      std::make_tuple(Describe(&PlaybackSpec::sink, {.name = "sink"}),
                      Describe(&PlaybackSpec::playhead, {.name = "playhead"}),
                      Describe(&PlaybackSpec::pacing, {.name = "pacing"}));
};

}  // namespace tapedeck::services::model
