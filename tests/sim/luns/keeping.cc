#include "tests/sim/luns/keeping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test

void Keeping::Fire(SegmentedStream& stream) {
  auto answer = std::async(std::launch::async,
                           [port = stream.port()] { return port->Fire(services::Trigger()); });
  // Time stands still meanwhile.
  for (int i = 0; answer.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready; ++i) {
    ASSERT_LT(i, 20'000);
    triggers_.RunReady();
  }
  const auto caught = answer.get();
  if (!caught.ok()) {
    ++fired_["trigger refused"];
    return;
  }
  ++fired_["trigger"];
  stream.OnCaught(*caught);
  for (auto& [number, take] : lun_.ledger()) {
    if (std::ranges::count(caught->to_keep, take.path.recording) == 0) continue;
    ++fired_["segment kept once it was closed"];
    changes_.push_back({.take = &take, .keep = true, .pins = caught->pins});
  }
}

void Keeping::ReleaseOne() {
  for (auto& [number, take] : lun_.ledger()) {
    if (take.state != Take::State::kClosed || !take.manifest.kept) continue;
    const bool changing = std::ranges::find(changes_, &take, &Change::take) != changes_.end();
    auto pin = changing ? nullptr : lun_.Pin(take.path.recording, false);
    if (pin == nullptr) continue;
    ++fired_["kept segment released"];
    take.wanted = false;
    changes_.push_back({.take = &take, .keep = false});
    changes_.back().pins.push_back(std::move(pin));
    return;
  }
}

// One at a time.
void Keeping::Turn() {
  changes_.remove_if([](const Change& change) { return change.done; });
  for (Change& change : changes_) {
    if (change.files != nullptr || Begin(change)) break;
  }
}

void Keeping::OnEnd(const SegmentedStream& stream) {
  changes_.remove_if([&](const Change& change) {
    return change.take->stream == stream.id() && change.take->state == Take::State::kOpen;
  });
}

// What is being closed is changed when it is.
bool Keeping::Begin(Change& change) {
  Take& take = *change.take;
  if (take.state == Take::State::kOpen) return false;
  change.pins.push_back(lun_.Pin(take.path.recording, false));
  if (change.pins.back() == nullptr) {
    // Nobody may delete it in between; only without a block it goes by itself.
    EXPECT_TRUE(take.held.empty()) << take.path.recording << " was caught and is gone";
    change.done = true;
    return false;
  }
  auto files = lun_.store().Open(take.path, {}, lun_.executor());
  EXPECT_TRUE(files.ok()) << files.status();
  change.done = !files.ok();
  if (change.done) return false;
  // On the way it is this or that.
  if (!change.keep) take.manifest.kept = false;
  format::Manifest next = take.manifest;
  next.kept = change.keep;
  change.files = *std::move(files);
  change.files->WriteManifest(format::EncodeManifest(next),
                              [this, &change](absl::Status status) { OnWritten(change, status); });
  return true;
}

void Keeping::OnWritten(Change& change, const absl::Status& status) {
  change.done = true;
  if (!status.ok() || !change.keep) return;
  change.take->manifest.kept = true;
  change.take->wanted = true;
}

}  // namespace tapedeck::sim
