#include "tests/sim/site/resume_host.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/recording/writing/recording_writer.h"
#include "tests/sim/disks/fault_store.h"

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test
using services::session::Admission;
using services::session::Open;

namespace {

constexpr size_t kHostSlots = 8;
constexpr char kHostToken[] = "000102030405060708090a0b0c0d0e0f";

}  // namespace

ResumeHost::ResumeHost(FaultDisk& disk, const ResumeHostSettings& settings,
                       const dataplane::Clock& clock)
    : disk_(disk),
      settings_(settings),
      clock_(clock),
      store_(MakeFaultStore(disk, settings.members)),
      manifest_{.id = "r",
                .identity = {.channel = settings.channel, .epoch = 7},
                .members = settings.members,
                .block_bytes = settings.block_bytes,
                .datatype = "cf32_le",
                .resume_token = kHostToken} {}

void ResumeHost::Stop(bool power_cut) {
  if (power_cut) disk_.operations_left = 0;
  store_ = nullptr;
  if (power_cut) disk_.CutPower(disk_.random());
  disk_.operations_left = UINT64_MAX;
}

void ResumeHost::Start() { store_ = MakeFaultStore(disk_, settings_.members); }

absl::StatusOr<format::Manifest> ResumeHost::Close() {
  TD_ASSIGN_OR_RETURN(format::Manifest stored, recording::LoadManifest(*store_, path(), clock_));
  if (stored.state != services::RecordingState::kRecording) return stored;
  return recording::SalvageRecording(*store_, path(), stored, "died", clock_);
}

void ResumeHost::Admit(const Open& open, dataplane::Executor& executor,
                       std::shared_ptr<services::session::AdmissionWatch> /*watch*/,
                       services::session::OnAdmitted admitted) {
  admitted(Record(open, executor));
}

absl::StatusOr<Admission> ResumeHost::Record(const Open& open, dataplane::Executor& executor) {
  if (const auto live = live_.lock(); live != nullptr && live->closed() == nullptr) {
    live->GiveWay();
    return services::WithReason(absl::FailedPreconditionError("still written"), "RECORDING_BUSY");
  }
  if (!open.resume.has_value()) {
    TD_ASSIGN_OR_RETURN(auto files,
                        store_->Open(path(), store::ToCreate(manifest_.block_bytes), executor));
    return MakeAdmission(open, {}, std::move(files), executor);
  }
  const auto closed = Close();
  if (absl::IsNotFound(closed.status())) {
    TD_RETURN_IF_ERROR(store_->DeleteRecording(path()));
    return recording::ResumeRefused("r", "DELETED", "it is not there");
  }
  TD_RETURN_IF_ERROR(closed.status());
  if (closed->resume_token.empty()) {
    return recording::ResumeRefused("r", "SEALED", "it has ended", closed->blocks);
  }
  TD_ASSIGN_OR_RETURN(
      auto start, recording::FindStart(*store_, path(), *closed, open.resume->first_block, clock_));
  manifest_ = recording::Reopened(*closed, start);
  TD_ASSIGN_OR_RETURN(auto files,
                      store_->Open(path(), {.purpose = store::Purpose::kGoOn}, executor));
  return MakeAdmission(open, std::move(start), std::move(files), executor);
}

absl::StatusOr<Admission> ResumeHost::MakeAdmission(const Open& open, recording::WriterStart start,
                                                    std::unique_ptr<store::RecordingFiles> files,
                                                    dataplane::Executor& executor) {
  std::shared_ptr<dataplane::SlotPool> ring;
  if (settings_.make_ring) {
    ring = settings_.make_ring();
  } else {
    TD_ASSIGN_OR_RETURN(
        ring, store_->MakeRing({.slots = kHostSlots, .slot_bytes = manifest_.block_bytes}));
  }
  const auto arrivals = std::make_shared<dataplane::ArrivalCrcs>(manifest_.entries().piece_bytes);
  Admission admission{.ring = ring,
                      .accept = {.recording = "r",
                                 .datatype = "cf32_le",
                                 .op = open.op.value_or(dataplane::TransferOp::kRead),
                                 .commit = dataplane::CommitLevel::kDurable,
                                 .block_bytes = ring->slot_bytes(),
                                 .resume_token = absl::HexStringToBytes(kHostToken),
                                 .next_block = start.next,
                                 .missing_blocks = start.missing_blocks()},
                      .arrivals = arrivals};
  auto live = std::make_shared<recording::LiveRecording>();
  live_ = live;
  admission.sink = std::make_unique<recording::RecordingWriter>(
      recording::WriterOptions{.name = "r",
                               .manifest = manifest_,
                               .ring_slots = ring->slots(),
                               .arrivals = arrivals,
                               .capacity = std::make_shared<recording::Capacity>(0),
                               .live = std::move(live),
                               .start = std::move(start)},
      std::move(files), executor);
  return admission;
}

}  // namespace tapedeck::sim
