#include "tests/sim/luns/restart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "dataplane/status_macros.h"
#include "storage_node/recording/recovery/examine.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/repair/verify.h"
#include "tests/sim/luns/playing.h"

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test

void Events::Add(const Events& more) {
  durable_blocks += more.durable_blocks;
  played_blocks += more.played_blocks;
  deletes_cut += more.deletes_cut;
  deletes_cut_undone += more.deletes_cut_undone;
  deletes_repeated += more.deletes_repeated;
  recoveries_cut += more.recoveries_cut;
  recoveries_cut_again += more.recoveries_cut_again;
  salvaged += more.salvaged;
  kept += more.kept;
  not_kept_yet += more.not_kept_yet;
}

Restart::Restart(Moment moment, OpenStore open, uint64_t operations, CrashStates* states,
                 uint64_t seed)
    : moment_(std::move(moment)),
      disk_(moment_.disk),
      open_(std::move(open)),
      operations_(operations),
      states_(*states),
      random_(seed) {}

void Restart::Run() {
  for (const auto& [number, take] : moment_.ledger) {
    if (take.state == Take::State::kOpen) events_.durable_blocks += take.acknowledged;
    if (take.state == Take::State::kClosed) events_.durable_blocks += take.held.size();
    if (take.state == Take::State::kGoing) ++events_.deletes_cut;
  }
  CutPower();
  for (int cuts = 0; cuts < 2 && random_() % 2 == 0; ++cuts) {
    if (Start(random_() % operations_)) break;
    ++(cuts == 0 ? events_.recoveries_cut : events_.recoveries_cut_again);
    CutPower();
  }
  if (!Start(UINT64_MAX)) return;
  Settle();
  CutPower();
  if (!Start(UINT64_MAX)) return;
  Settle();
  PlayAll();
  DeleteAgain();
  store_ = nullptr;
}

void Restart::CutPower() {
  store_ = nullptr;
  disk_.CutPower(random_());
  states_.Add(disk_);
}

bool Restart::Start(uint64_t operations) {
  disk_.operations_left = operations;
  found_.clear();
  const absl::Status status = Recover();
  const bool power = disk_.operations_left > 0;
  EXPECT_TRUE(status.ok() || !power) << status;
  disk_.operations_left = UINT64_MAX;
  return status.ok();
}

// As reconciling does with a catalog that knows nothing.
absl::Status Restart::Recover() {
  store_ = nullptr;
  TD_ASSIGN_OR_RETURN(store_, open_(disk_));
  store::Recovery& recovery = *store_->extras().recovery;
  TD_RETURN_IF_ERROR(recovery.FinishDeletions({}));
  TD_ASSIGN_OR_RETURN(const auto begun, recovery.BegunDeletions({}));
  for (const store::RecordingPath& path : begun) {
    TD_RETURN_IF_ERROR(store_->DeleteRecording(path));
  }
  TD_ASSIGN_OR_RETURN(const auto paths, store_->ListRecordings({}));
  for (const store::RecordingPath& path : paths) TD_RETURN_IF_ERROR(Adopt(path));
  return absl::OkStatus();
}

absl::Status Restart::Adopt(const store::RecordingPath& path) {
  auto examined = recording::Examine(*store_, path, nullptr, clock_);
  TD_RETURN_IF_ERROR(examined.status());
  if (examined->holds_nothing) return store_->DeleteRecording(path);
  // Neither says what it is, or it is what another recording has left there: a node with a catalog
  // knows, and here somebody clears it away.
  if (!examined->manifest.has_value() || examined->manifest->id != path.recording) {
    return store_->DeleteRecording(path);
  }
  format::Manifest manifest = *std::move(examined->manifest);
  if (manifest.state == services::RecordingState::kRecording) {
    TD_ASSIGN_OR_RETURN(manifest,
                        recording::SalvageRecording(*store_, path, manifest, "power", clock_));
    ++events_.salvaged;
  }
  found_[path.recording] = std::move(manifest);
  return absl::OkStatus();
}

void Restart::Settle() {
  for (auto& [number, take] : moment_.ledger) {
    const auto found = found_.find(take.path.recording);
    SCOPED_TRACE(take.path.recording);
    SettleOne(take, found == found_.end() ? nullptr : &found->second);
    if (found != found_.end()) found_.erase(found);
  }
  for (const auto& [recording, manifest] : found_) ADD_FAILURE() << recording << " never was";
}

void Restart::SettleOne(Take& take, const format::Manifest* found) {
  switch (take.state) {
    case Take::State::kOpen:
      if (found == nullptr) {
        EXPECT_EQ(take.acknowledged, 0u) << "acknowledged, and is not there";
        take.state = Take::State::kGone;
        return;
      }
      take.held = BlocksOf(*found);
      take.state = Take::State::kClosed;
      if (take.wanted && !found->kept) ++events_.not_kept_yet;
      break;
    case Take::State::kClosed:
      EXPECT_NE(found, nullptr) << "closed, and is not there";
      break;
    case Take::State::kGoing:
      if (found == nullptr) take.state = Take::State::kGone;
      break;
    case Take::State::kGone:
      EXPECT_EQ(found, nullptr) << "deleted, and is there";
      return;
  }
  if (found != nullptr) SettleBlocks(take, *found);
}

void Restart::SettleBlocks(Take& take, const format::Manifest& found) {
  EXPECT_EQ(BlocksOf(found), take.held);
  EXPECT_TRUE(std::ranges::includes(take.came, take.held)) << "a block that never came";
  for (const uint64_t i : take.came) {
    EXPECT_TRUE(i >= take.acknowledged || take.held.contains(i)) << "lost block " << i;
  }
  EXPECT_TRUE(found.kept || !take.manifest.kept) << "kept, and no longer is";
  if (found.kept) ++events_.kept;
  take.manifest = found;
  take.wanted = found.kept;
}

void Restart::PlayAll() {
  const bool verify = random_() % 8 == 0;
  for (const auto& [number, take] : moment_.ledger) {
    if (take.state == Take::State::kGone) continue;
    SCOPED_TRACE(take.path.recording);
    const auto is_right = [&take = take](uint64_t sequence, std::span<const std::byte> payload) {
      return take.IsRight(sequence, payload);
    };
    EXPECT_EQ(Play(*store_, take.path, take.manifest, is_right), take.held);
    events_.played_blocks += take.held.size();
    if (!verify) continue;
    const auto report = [](const services::VerifyProgress& progress) {
      for (const auto& damaged : progress.damaged) ExpectOfPowerCut(damaged);
      return true;
    };
    EXPECT_TRUE(repair::VerifyBlocks(*store_, take.path, take.manifest, clock_, report).ok());
  }
}

// Whoever deleted it does so again; a power cut may come between, too.
void Restart::DeleteAgain() {
  bool repeated = false;
  for (auto& [number, take] : moment_.ledger) {
    if (take.state != Take::State::kGoing) continue;
    ++events_.deletes_cut_undone;
    disk_.operations_left = random_() % 8;
    if (store_->DeleteRecording(take.path).ok()) take.state = Take::State::kGone;
    CutPower();
    if (!Start(UINT64_MAX)) return;
    Settle();
    if (take.state == Take::State::kGoing) {
      EXPECT_TRUE(store_->DeleteRecording(take.path).ok());
      take.state = Take::State::kGone;
    }
    ++events_.deletes_repeated;
    repeated = true;
  }
  if (!repeated) return;
  CutPower();
  if (!Start(UINT64_MAX)) return;
  Settle();
  PlayAll();
}

}  // namespace tapedeck::sim
