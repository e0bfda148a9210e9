#include "tests/sim/disks/disk_host.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "storage_node/recording/reading/recording_reader.h"
#include "storage_node/recording/writing/recording_writer.h"

namespace tapedeck::sim {

using services::session::Admission;
using services::session::Open;

namespace {

constexpr size_t kSlots = 8;

}  // namespace

DiskHost::DiskHost(std::unique_ptr<storage_node::store::Store> store, uint32_t members,
                   uint64_t block_bytes)
    : store_(std::move(store)),
      manifest_{.id = "r",
                .identity = {.channel = path().channel, .epoch = 7},
                .members = members,
                .block_bytes = block_bytes,
                .datatype = "cf32_le"} {}

void DiskHost::Admit(const Open& open, dataplane::Executor& executor,
                     std::shared_ptr<services::session::AdmissionWatch> /*watch*/,
                     services::session::OnAdmitted admitted) {
  const bool record = open.direction == services::session::Direction::kRecord;
  admitted(record ? Record(open, executor) : Play(open, executor));
}

absl::StatusOr<Admission> DiskHost::Record(const Open& open, dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(auto ring,
                      store_->MakeRing({.slots = kSlots, .slot_bytes = manifest_.block_bytes}));
  TD_ASSIGN_OR_RETURN(
      auto files,
      store_->Open(path(), storage_node::store::ToCreate(manifest_.block_bytes), executor));
  const auto arrivals = std::make_shared<dataplane::ArrivalCrcs>(manifest_.entries().piece_bytes);
  Admission admission{.ring = std::move(ring),
                      .accept = {.recording = "r",
                                 .datatype = "cf32_le",
                                 .op = open.op.value_or(dataplane::TransferOp::kRead),
                                 .commit = dataplane::CommitLevel::kDurable,
                                 .block_bytes = manifest_.block_bytes},
                      .arrivals = arrivals};
  admission.sink = std::make_unique<storage_node::recording::RecordingWriter>(
      storage_node::recording::WriterOptions{
          .name = "r",
          .manifest = manifest_,
          .ring_slots = kSlots,
          .arrivals = arrivals,
          .capacity = std::make_shared<storage_node::recording::Capacity>(0),
          .live = std::make_shared<storage_node::recording::LiveRecording>()},
      std::move(files), executor);
  return admission;
}

absl::StatusOr<Admission> DiskHost::Play(const Open& open, dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(
      auto ring,
      store_->MakeRing({.slots = kSlots, .slot_bytes = manifest_.block_bytes, .playback = true}));
  TD_ASSIGN_OR_RETURN(auto files, store_->Open(path(), {}, executor));
  Admission admission{.ring = ring,
                      .accept = {.recording = "r",
                                 .datatype = "cf32_le",
                                 .op = open.op.value_or(dataplane::TransferOp::kRead),
                                 .block_bytes = manifest_.block_bytes,
                                 .blocks = manifest_.blocks}};
  admission.source = std::make_unique<storage_node::recording::RecordingReader>(
      storage_node::recording::ReaderOptions{
          .name = "r", .manifest = manifest_, .ring = std::move(ring)},
      std::move(files), executor);
  return admission;
}

}  // namespace tapedeck::sim
