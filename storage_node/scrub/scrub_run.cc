#include "storage_node/scrub/scrub_run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/format/damage.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recordings/owners.h"
#include "storage_node/repair/copy_mender.h"
#include "storage_node/repair/index_repair.h"
#include "storage_node/repair/verify.h"

namespace tapedeck::storage_node::scrub {
namespace {

using services::ScrubState;

constexpr size_t kMaxFindings = 1000;
constexpr size_t kMaxRepairs = 100;  // among the findings: an answer has one message
constexpr absl::Duration kSavePeriod = absl::Seconds(1);
// A scrub stops after the blocks it is reading; only a disk that hangs takes longer.
constexpr absl::Duration kStopDeadline = absl::Seconds(10);

// Neither deleted nor offline only.
bool IsThere(recordings::Recordings& recordings, const std::string& parent) {
  if (const auto lun = catalog::ParseLunName(parent); lun.ok())
    return recordings.luns().Has(lun->lun);
  const auto channel = catalog::ParseChannelName(parent);
  return channel.ok() && !absl::IsNotFound(recordings.FindChannel(*channel).status());
}

}  // namespace

ScrubRun::ScrubRun(recordings::Recordings& recordings, std::shared_ptr<absl::Mutex> repairing,
                   catalog::ResourceName scope, std::shared_ptr<recording::LunMeter> meter,
                   const services::ScrubStart& start)
    : recordings_(recordings),
      repairing_(std::move(repairing)),
      scope_(std::move(scope)),
      meter_(std::move(meter)),
      span_(start.trace.Start("scrub")),
      whole_(recordings),
      got_on_(dataplane::SteadyTime()) {
  span_.Set("tapedeck.scope", start.parent);
  scrub_.parent = start.parent;
  scrub_.state = ScrubState::kRunning;
  SetRate(start.rate_bytes_per_s);
  if (!start.restart) position_ = ReadScrubPosition(recordings.luns().state_dir(), start.parent);
}

void ScrubRun::SetRate(uint64_t bytes_per_s) {
  absl::MutexLock lock(&mutex_);
  rate_ = bytes_per_s == 0 ? services::copying::kBackgroundRate : bytes_per_s;
}

bool ScrubRun::AwaitEnd() const {
  absl::MutexLock lock(&mutex_);
  return dataplane::AwaitFor(mutex_, absl::Condition(&ended_), kStopDeadline);
}

void ScrubRun::GiveUpAfter(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  if (ended_ || given_up_ || dataplane::SteadyTime() - got_on_ < patience) return;
  given_up_ = stop_ = true;
  scrub_.state = ScrubState::kStopped;
  const std::string lun = scope_.lun_name();
  const absl::Status cause = services::LunNotResponding(
      lun, absl::StrCat(lun, ": its disks have not answered the scrub for ",
                        absl::FormatDuration(patience),
                        "; start it again once they answer: it continues where it stopped"));
  scrub_.cause = std::string(cause.message());
  dataplane::Log(dataplane::LogLevel::kError, "scrub", "scrub given up",
                 {{"scope", scrub_.parent},
                  {"recording", scrub_.recording},
                  {"reason", services::ReasonOf(cause)->reason},
                  {"error", scrub_.cause}});
}

void ScrubRun::Work() {
  const absl::Status status = ReadAll();
  if (status.ok()) position_ = {};
  Save(position_);
  PruneScrubPositions(recordings_.luns().state_dir(),
                      [&](const std::string& parent) { return IsThere(recordings_, parent); });
  absl::MutexLock lock(&mutex_);
  span_.Set("tapedeck.blocks", static_cast<int64_t>(scrub_.blocks));
  span_.Set("tapedeck.damaged", static_cast<int64_t>(scrub_.damaged));
  span_.Set("tapedeck.repaired", static_cast<int64_t>(scrub_.repaired));
  span_.End(status);
  ended_ = true;
  end_time_ = dataplane::WallTime();
  scrub_.state = status.ok() ? ScrubState::kDone : ScrubState::kStopped;
  if (status.ok()) scrub_.cause.clear();
  if (!status.ok() && !absl::IsCancelled(status) && !given_up_) {
    scrub_.cause = std::string(status.message());
  }
}

absl::Status ScrubRun::ReadAll() {
  TD_ASSIGN_OR_RETURN(auto rows, recordings_.catalog()->ListRecordings(scope_));
  std::ranges::sort(rows, {}, [](const auto& row) { return row.name.ToString(); });
  const bool from_start = position_.recording.empty();
  if (from_start && catalog::ParseLunName(state().parent).ok()) whole_.Begin(scope_);
  for (const catalog::RecordingRow& row : rows) {
    const std::string name = row.name.ToString();
    if (name < position_.recording) continue;
    if (name > position_.recording) position_ = {.recording = name};
    const absl::Status status = ReadOne(row.name);
    // Deleted, or still being written: neither is the scrub's business.
    if (absl::IsNotFound(status) || absl::IsFailedPrecondition(status)) continue;
    TD_RETURN_IF_ERROR(status);
    absl::MutexLock lock(&mutex_);
    ++scrub_.recordings;
  }
  ConcludeCopies();
  return NameOwners();
}

void ScrubRun::ConcludeCopies() {
  const services::Scrub so_far = state();
  const absl::Status status = whole_.Conclude(so_far.damaged == so_far.repaired);
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "scrub", "copy still behind",
                 {{"lun", so_far.parent}, {"why", std::string(status.message())}});
}

absl::Status ScrubRun::NameOwners() {
  recordings::OwnerSearch search{.lun = scope_.lun,
                                 .pace = [this](uint64_t bytes) { return Pace(bytes); }};
  for (const services::ScrubFinding& finding : state().findings) {
    if (finding.block.stray_crc32c != 0) search.crcs.insert(finding.block.stray_crc32c);
  }
  if (search.crcs.empty()) return absl::OkStatus();
  search.found = [this](uint32_t crc, const std::string& recording, uint64_t block) {
    absl::MutexLock lock(&mutex_);
    for (services::ScrubFinding& finding : scrub_.findings) {
      if (finding.block.stray_crc32c != crc) continue;
      finding.block.stray_crc32c = 0;
      finding.block.kind = services::DamageKind::kMisdirected;
      absl::StrAppend(&finding.block.detail, "; these are the bytes of block ", block, " of ",
                      recording);
    }
  };
  return recordings::FindOwners(recordings_, search);
}

absl::Status ScrubRun::ReadOne(const catalog::ResourceName& name) {
  const std::string text = name.ToString();
  const auto lease = recordings_.leases().TakeShared(text);
  TD_ASSIGN_OR_RETURN(const recordings::FoundRecording found, recordings_.Find(text));
  if (lease == nullptr || found.manifest.state == services::RecordingState::kRecording) {
    if (lease != nullptr) whole_.Miss();
    return recordings::Busy(found, "is still being written");
  }
  {
    absl::MutexLock lock(&mutex_);
    scrub_.recording = text;
    got_on_ = dataplane::SteadyTime();
  }
  const uint64_t first = std::min(position_.block, found.manifest.blocks);
  checked_ = 0;
  const uint32_t copies = std::max<uint32_t>(1, found.lun->config->copies);
  repair::VerifyScope scope{.first_block = first,
                            // Of an index with two copies RepairOne has them.
                            .index_pages = found.manifest.members == 1 && copies == 1};
  const uint64_t repaired = state().repaired;
  if (copies == 1) {
    TD_RETURN_IF_ERROR(RepairOne(found, first));
  } else if (MakeCopies(found)) {
    TD_RETURN_IF_ERROR(RepairOne(found, first));
    scope.mended = [&](const std::vector<repair::CopyDamage>& blocks) { OnMended(text, blocks); };
  }
  TD_RETURN_IF_ERROR(repair::VerifyBlocks(
      *found.lun->store, found.path(), found.manifest, recordings_.luns().clock(),
      [&](const services::VerifyProgress& progress) {
        return OnProgress(text, found.manifest.block_bytes * copies, first, progress);
      },
      scope));
  if (copies == 1 || state().repaired == repaired) return absl::OkStatus();
  return repair::TrimCopies(*found.lun->store, found.path(), found.manifest,
                            recordings_.luns().clock());
}

bool ScrubRun::MakeCopies(const recordings::FoundRecording& found) {
  recording::CallerLoop loop(recordings_.luns().clock());
  const auto files = found.lun->store->Open(found.path(), {.purpose = store::Purpose::kMend}, loop);
  const absl::Status made = files.status();
  const bool both = made.ok() && (*files)->block_copies() > 1;
  if (!both) whole_.Miss();
  // Without its member there is nothing to make; where neither has it, who is asked next says so.
  if (made.ok() || absl::IsNotFound(made)) return both;
  absl::MutexLock lock(&mutex_);
  Add(found.name.ToString(),
      {.kind = services::DamageKind::kManifest,
       .detail = absl::StrCat("the second copy cannot be made: ", made.message())},
      false);
  return false;
}

void ScrubRun::OnMended(const std::string& recording,
                        const std::vector<repair::CopyDamage>& blocks) {
  uint64_t repaired = 0;
  {
    absl::MutexLock lock(&mutex_);
    for (const repair::CopyDamage& damage : blocks) {
      Add(recording, damage.block, damage.repaired);
      if (damage.repaired) ++repaired;
    }
  }
  const bool all = repaired == blocks.size();
  dataplane::Log(all ? dataplane::LogLevel::kWarning : dataplane::LogLevel::kError, "scrub",
                 all ? "blocks mended" : "blocks not mended",
                 {{"recording", recording},
                  {"damaged", absl::StrCat(blocks.size())},
                  {"repaired", absl::StrCat(repaired)},
                  {"detail", blocks.front().block.detail}});
}

absl::Status ScrubRun::RepairOne(const recordings::FoundRecording& found, uint64_t first) {
  const std::string recording = found.name.ToString();
  const int64_t began_ns = recordings_.luns().clock().NowNs();
  uint64_t damaged = 0, repaired = 0;
  std::string detail;  // of the first that is not repaired, if there is one
  const auto on_progress = [&](const repair::RepairProgress& progress) {
    {
      absl::MutexLock lock(&mutex_);
      for (const repair::CopyDamage& damage : progress.damaged) {
        Add(recording, damage.block, damage.repaired);
        if (damaged == repaired && (damaged == 0 || !damage.repaired)) detail = damage.block.detail;
        ++damaged;
        if (damage.repaired) ++repaired;
      }
    }
    return Pace(progress.bytes);
  };
  const auto manifest = recordings_.MendManifest(recording);
  absl::Status status = manifest.status();
  if (manifest.ok() && !on_progress(*manifest)) status = absl::CancelledError("repair stopped");
  if (status.ok()) {
    status = repair::RepairIndex(*found.lun->store, found.path(), found.manifest, first,
                                 recordings_.luns().clock(), *repairing_, on_progress);
  }
  if (damaged > 0) {
    TellOfRepair(recording, began_ns, damaged, repaired, status);
    dataplane::Log(repaired < damaged ? dataplane::LogLevel::kError : dataplane::LogLevel::kWarning,
                   "scrub", repaired < damaged ? "copy damaged" : "copy repaired",
                   {{"recording", recording},
                    {"damaged", absl::StrCat(damaged)},
                    {"repaired", absl::StrCat(repaired)},
                    {"detail", detail}});
  }
  return status;
}

void ScrubRun::TellOfRepair(const std::string& recording, int64_t began_ns, uint64_t damaged,
                            uint64_t repaired, const absl::Status& status) {
  if (++told_repairs_ > kMaxRepairs) return;
  const int64_t took_ns = recordings_.luns().clock().NowNs() - began_ns;
  auto span = span_.branch().StartedBefore(took_ns, "repair");
  span.Set("tapedeck.recording", recording);
  span.Set("tapedeck.damaged", static_cast<int64_t>(damaged));
  span.Set("tapedeck.repaired", static_cast<int64_t>(repaired));
  span.End(status);
}

void ScrubRun::Add(const std::string& recording, const services::DamagedBlock& block,
                   bool repaired) {
  ++scrub_.damaged;
  ++meter_->damaged_by_scrub;
  if (repaired) {
    ++scrub_.repaired;
    ++meter_->repaired_by_scrub;
  }
  const bool listed =
      repaired ? scrub_.repaired <= kMaxRepairs : scrub_.damaged - scrub_.repaired <= kMaxFindings;
  if (listed) scrub_.findings.push_back({recording, block, repaired});
}

bool ScrubRun::OnProgress(const std::string& recording, uint64_t block_bytes, uint64_t first,
                          const services::VerifyProgress& progress) {
  const uint64_t more = progress.checked_blocks - std::exchange(checked_, progress.checked_blocks);
  meter_->scrubbed_blocks += more;
  {
    absl::MutexLock lock(&mutex_);
    scrub_.blocks += more;
    for (const services::DamagedBlock& block : progress.damaged) {
      if (block.kind == services::DamageKind::kMissing) continue;
      Add(recording, block, false);
      dataplane::Log(dataplane::LogLevel::kError, "scrub", "block damaged",
                     {{"recording", recording},
                      {"block", absl::StrCat(block.sequence)},
                      {"kind", std::string(services::model::NameOf(block.kind))},
                      {"detail", block.detail}});
    }
  }
  position_.block = first + progress.checked_blocks;
  if (dataplane::SteadyTime() - saved_ > kSavePeriod) Save(position_);
  return Pace(more * block_bytes);
}

std::optional<uint64_t> ScrubRun::RateNow() {
  absl::MutexLock lock(&mutex_);
  got_on_ = dataplane::SteadyTime();
  return stop_ ? std::nullopt : std::optional(rate_);
}

void ScrubRun::Save(const ScrubPosition& position) {
  saved_ = dataplane::SteadyTime();
  const std::string parent = state().parent;
  const absl::Status status =
      position.recording.empty()
          ? ForgetScrubPosition(recordings_.luns().state_dir(), parent)
          : WriteScrubPosition(recordings_.luns().state_dir(), parent, position);
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "scrub", "position not saved",
                 {{"error", std::string(status.message())}});
}

}  // namespace tapedeck::storage_node::scrub
