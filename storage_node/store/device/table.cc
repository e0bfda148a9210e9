#include "storage_node/store/device/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::store::device {
namespace {

// "0-3,7", of slots that rise.
std::string RangesOf(const std::vector<uint32_t>& slots) {
  std::string text;
  for (size_t first = 0, end = 0; first < slots.size(); first = end) {
    for (end = first + 1; end < slots.size() && slots[end] == slots[end - 1] + 1;) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ",", slots[first]);
    if (end - first > 1) absl::StrAppend(&text, "-", slots[end - 1]);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SlotTable>> SlotTable::Load(Device& device,
                                                           const Superblock& superblock) {
  std::unique_ptr<SlotTable> table(new SlotTable(device, superblock));
  for (uint32_t slot = superblock.slots; slot-- > 0;) {
    TD_RETURN_IF_ERROR(table->LoadSlot(slot));
  }
  std::ranges::reverse(table->damaged_);
  if (!table->damaged_.empty()) {
    dataplane::Log(dataplane::LogLevel::kError, "store/device", "slots damaged in both copies",
                   {{"member", device.path()}, {"slots", RangesOf(table->damaged_)}});
  }
  return table;
}

absl::Status SlotTable::WriteAllFree(Device& device, const Superblock& superblock) {
  for (uint32_t slot = 0; slot < superblock.slots; ++slot) {
    TD_ASSIGN_OR_RETURN(const Pages pages,
                        EncodeSlot({}, {.stamp = superblock.stamp, .slot = slot, .copy = 0}));
    TD_RETURN_IF_ERROR(device.Write(pages.bytes(), superblock.SlotOffset(slot, 0)));
  }
  return device.Flush();
}

absl::Status SlotTable::Erase(Device& device, const Superblock& superblock) {
  const Pages zeros(kPageBytes);
  for (uint32_t slot = 0; slot < superblock.slots; ++slot) {
    for (const uint32_t copy : {0u, 1u}) {
      TD_RETURN_IF_ERROR(device.Write(zeros.bytes(), superblock.SlotOffset(slot, copy)));
    }
  }
  return device.Flush();
}

absl::StatusOr<std::optional<SlotRecord>> SlotTable::ReadCopy(uint32_t slot, uint32_t copy) {
  const SlotPlace place{.stamp = superblock_.stamp, .slot = slot, .copy = copy};
  const uint64_t offset = superblock_.SlotOffset(slot, copy);
  Pages first(kPageBytes);
  TD_RETURN_IF_ERROR(device_.Read(first.bytes(), offset));
  const size_t length = SlotLength(first.bytes(), place);
  if (length == 0) return std::nullopt;
  if (length <= kPageBytes) return DecodeSlot(first.bytes(), place, superblock_.units());
  Pages all(length);
  TD_RETURN_IF_ERROR(device_.Read(all.bytes(), offset));
  return DecodeSlot(all.bytes(), place, superblock_.units());
}

// A copy that is damaged beside a good one was being written when the power went: it is the newer
// one, and nobody was told of it. The first copy that was ever written has nothing beside it.
absl::Status SlotTable::LoadSlot(uint32_t slot) {
  std::optional<SlotRecord> newest;
  int damaged = 0;
  for (const uint32_t copy : {0u, 1u}) {
    auto record = ReadCopy(slot, copy);
    if (absl::IsDataLoss(record.status())) {
      ++damaged;
      continue;
    }
    TD_RETURN_IF_ERROR(record.status());
    if (record->has_value() &&
        (!newest.has_value() || (*record)->generation > newest->generation)) {
      newest = *std::move(record);
    }
  }
  if (damaged == 2 || (superblock_.has_all_slots && !newest.has_value())) {
    damaged_.push_back(slot);
    return absl::OkStatus();
  }
  absl::MutexLock lock(&mutex_);
  if (newest.has_value()) generations_[slot] = newest->generation;
  if (newest.has_value() && newest->live) {
    live_.emplace_back(slot, *std::move(newest));
  } else {
    free_.push_back(slot);
  }
  return absl::OkStatus();
}

std::optional<uint32_t> SlotTable::TakeSlot() {
  absl::MutexLock lock(&mutex_);
  if (free_.empty()) return std::nullopt;
  const uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void SlotTable::ReturnSlot(uint32_t slot) {
  absl::MutexLock lock(&mutex_);
  free_.push_back(slot);
}

absl::Status SlotTable::Write(uint32_t slot, SlotRecord record) {
  {
    absl::MutexLock lock(&mutex_);
    record.generation = generations_[slot] + 1;
  }
  const auto copy = static_cast<uint32_t>(record.generation % 2);
  TD_ASSIGN_OR_RETURN(const Pages pages,
                      EncodeSlot(record, {.stamp = superblock_.stamp, .slot = slot, .copy = copy}));
  TD_RETURN_IF_ERROR(device_.Write(pages.bytes(), superblock_.SlotOffset(slot, copy)));
  TD_RETURN_IF_ERROR(device_.Flush());
  absl::MutexLock lock(&mutex_);
  generations_[slot] = record.generation;
  return absl::OkStatus();
}

absl::Status SlotTable::WriteBoth(uint32_t slot, const SlotRecord& record) {
  TD_RETURN_IF_ERROR(Write(slot, record));
  return Write(slot, record);
}

}  // namespace tapedeck::storage_node::store::device
