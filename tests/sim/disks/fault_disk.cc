#include "tests/sim/disks/fault_disk.h"

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "tests/sim/disks/fingerprint.h"

namespace tapedeck::sim {

uint64_t DiskFile::Write(uint64_t offset, Bytes bytes) {
  Operation operation{.offset = offset, .bytes = std::move(bytes)};
  there_ = true;
  Apply(operation, &cache_);
  pending_.emplace(next_id_, std::move(operation));
  return next_id_++;
}

uint64_t DiskFile::Truncate(uint64_t bytes) {
  if (!there_) return next_id_++;
  const Operation operation{.offset = bytes, .truncate = true};
  Apply(operation, &cache_);
  pending_.emplace(next_id_, operation);
  return next_id_++;
}

void DiskFile::Complete(uint64_t id) {
  if (const auto it = pending_.find(id); it != pending_.end()) it->second.completed = true;
}

std::vector<uint64_t> DiskFile::Completed() const {
  std::vector<uint64_t> ids;
  for (const auto& [id, operation] : pending_) {
    if (operation.completed) ids.push_back(id);
  }
  return ids;
}

void DiskFile::MakeDurable(const std::vector<uint64_t>& ids) {
  name_durable_ = name_durable_ || !ids.empty();
  for (const uint64_t id : ids) {
    const auto it = pending_.find(id);
    if (it == pending_.end()) continue;
    Apply(it->second, &durable_);
    pending_.erase(it);
  }
}

void DiskFile::Forget(const std::vector<uint64_t>& ids, std::mt19937_64& random) {
  for (const uint64_t id : ids) {
    const auto it = pending_.find(id);
    if (it == pending_.end()) continue;
    ApplyPerhaps(it->second, random);
    pending_.erase(it);
  }
  cache_ = durable_;
  for (const auto& [id, operation] : pending_) Apply(operation, &cache_);
}

void DiskFile::WritePart(uint64_t offset, const Bytes& bytes, std::mt19937_64& random) {
  there_ = true;
  ApplyPerhaps({.offset = offset, .bytes = bytes}, random);
  cache_ = durable_;
  for (const auto& [id, operation] : pending_) Apply(operation, &cache_);
}

Losses DiskFile::CutPower(std::mt19937_64& random) {
  Losses losses;
  for (const auto& [id, operation] : pending_) losses.Add(ApplyPerhaps(operation, random));
  pending_.clear();
  if (there_ && !name_durable_) {
    name_durable_ = random() % 2 == 0;
    if (!name_durable_) Remove();
  }
  cache_ = durable_;
  return losses;
}

Losses DiskFile::ApplyPerhaps(const Operation& operation, std::mt19937_64& random) {
  switch (FateOf(random)) {
    case Fate::kLost:
      return {.lost = 1};
    case Fate::kWhole:
      Apply(operation, &durable_);
      return {};
    case Fate::kTorn:
      ApplyTorn(operation, random);
      return {.torn = 1};
  }
  return {};
}

uint64_t DiskFile::Fingerprint() const { return Join(durable_.size(), FingerprintOf(durable_)); }

void DiskFile::Overwrite(uint64_t offset, std::span<const std::byte> bytes) {
  const Operation operation{.offset = offset, .bytes = Bytes(bytes.begin(), bytes.end())};
  Apply(operation, &durable_);
  Apply(operation, &cache_);
}

void DiskFile::Cut(uint64_t bytes) {
  durable_.resize(std::min<uint64_t>(bytes, durable_.size()));
  cache_.resize(std::min<uint64_t>(bytes, cache_.size()));
}

void DiskFile::Remove() {
  *this = DiskFile();
  there_ = name_durable_ = false;
}

void DiskFile::Apply(const Operation& operation, Bytes* to) const {
  const uint64_t end = operation.offset + operation.bytes.size();
  const size_t before = to->size();
  if (operation.truncate || to->size() < end) to->resize(end);
  for (size_t i = before; i < to->size() && i < stale_.size(); ++i) (*to)[i] = stale_[i];
  std::copy(operation.bytes.begin(), operation.bytes.end(),
            to->begin() + static_cast<ptrdiff_t>(operation.offset));
}

void DiskFile::ApplyTorn(const Operation& operation, std::mt19937_64& random) {
  for (uint64_t at = 0; at < operation.bytes.size();) {
    const uint64_t sector_end = ((operation.offset + at) / kSectorBytes + 1) * kSectorBytes;
    const uint64_t end = std::min(operation.bytes.size(), sector_end - operation.offset);
    if (random() % 2 == 0) {
      Apply({.offset = operation.offset + at,
             .bytes = Bytes(operation.bytes.begin() + static_cast<ptrdiff_t>(at),
                            operation.bytes.begin() + static_cast<ptrdiff_t>(end))},
            &durable_);
    }
    at = end;
  }
}

absl::Status FaultDisk::Next(const std::string& operation, uint32_t member) {
  if (absl::Status status = Power(operation); !status.ok()) return status;
  --operations_left;
  ++operations;
  return fault ? fault(operation, member) : absl::OkStatus();
}

absl::Status FaultDisk::Power(const std::string& operation) const {
  return operations_left > 0 ? absl::OkStatus() : DiskError(operation, 0, "the power is off");
}

int64_t ShortCompletion(size_t bytes, std::mt19937_64& random) {
  const size_t pages = bytes / DiskImage::kPageBytes;
  if (pages < 2 || random() % 4 == 0) return random() % 2 == 0 ? -EINTR : -EAGAIN;
  return static_cast<int64_t>((1 + random() % (pages - 1)) * DiskImage::kPageBytes);
}

absl::Status DiskError(const std::string& operation, uint32_t member, const std::string& why) {
  return services::WithReason(
      absl::InternalError(absl::StrCat(operation, ": member ", member, ": ", why)), "STORE_IO",
      {{"member", absl::StrCat(member)}, {"operation", operation}});
}

absl::Status DiskFull(const std::string& operation, uint32_t member) {
  return services::WithReason(
      absl::ResourceExhaustedError(absl::StrCat(operation, ": member ", member, ": no space left")),
      "LUN_FULL", {{"member", absl::StrCat(member)}});
}

void FaultDisk::CutPower(uint64_t seed) {
  random.seed(seed);
  operations_left = UINT64_MAX;
  for (auto& [path, recording] : recordings) CutPower(recording);
  std::erase_if(recordings, [](const auto& entry) {
    return std::ranges::count(entry.second.entries, Entry::kGone) ==
           std::ssize(entry.second.entries);
  });
  for (DiskImage& device : devices) losses.Add(device.CutPower(random));
}

void FaultDisk::CutPower(DiskRecording& recording) {
  for (auto* files : {&recording.data, &recording.index}) {
    for (DiskFile& file : *files) losses.Add(file.CutPower(random));
  }
  for (std::string& text : recording.manifest) {
    if (!recording.next_manifest.empty() && random() % 2 == 0) text = recording.next_manifest;
  }
  recording.next_manifest.clear();
  for (Entry& entry : recording.manifest_entries) {
    if (entry == Entry::kRemoved) entry = random() % 2 == 0 ? Entry::kThere : Entry::kGone;
  }
  for (Entry& entry : recording.entries) {
    if (entry == Entry::kMade) entry = random() % 2 == 0 ? Entry::kThere : Entry::kGone;
    if (entry == Entry::kRemoved) entry = random() % 2 == 0 ? Entry::kThere : Entry::kLeftOver;
  }
}

uint64_t FaultDisk::Fingerprint() const {
  uint64_t all = 0;
  for (const auto& [path, recording] : recordings) {
    all = Join(all, FingerprintOf(path));
    for (const auto* files : {&recording.data, &recording.index}) {
      for (const DiskFile& file : *files) all = Join(all, file.Fingerprint());
    }
    for (const std::string& text : recording.manifest) all = Join(all, FingerprintOf(text));
    for (const auto* entries : {&recording.entries, &recording.manifest_entries}) {
      for (const Entry entry : *entries) all = Join(all, static_cast<uint64_t>(entry));
    }
  }
  for (const DiskImage& device : devices) all = Join(all, device.Fingerprint());
  return all;
}

}  // namespace tapedeck::sim
