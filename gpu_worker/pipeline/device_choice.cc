#include "gpu_worker/pipeline/device_choice.h"

#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/list.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/list.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::pipeline {
namespace {

DeviceChoice Chosen(std::unique_ptr<device::Device> device, std::string why) {
  std::string description =
      absl::StrCat(device->info().description, " (", stages::LibraryFor(*device), ")");
  return {std::move(device), std::move(description), std::move(why)};
}

std::string NameOf(const device::Room& room, int index) {
  return room.count == nullptr ? std::string(room.kind) : absl::StrCat(room.kind, ":", index);
}

// Why no device of the room is there.
std::string Refusal(const device::Room& room, const absl::Status& status) {
  return absl::StrCat("no ", room.kind, " device: ", absl::string_view(status.message()));
}

absl::StatusOr<DeviceChoice> ChooseAny() {
  std::vector<std::string> refusals;
  for (const device::Room& room : device::Rooms()) {
    auto device = room.create(0);
    if (device.ok()) {
      std::string why = refusals.empty() ? "auto: the first device"
                                         : absl::StrCat("auto: ", absl::StrJoin(refusals, "; "));
      return Chosen(*std::move(device), std::move(why));
    }
    refusals.push_back(Refusal(room, device.status()));
  }
  return device::Unusable("auto", absl::StrCat("--device auto: ", absl::StrJoin(refusals, "; ")));
}

struct Named {
  device::Room room;
  int index = 0;

  std::string name() const { return NameOf(room, index); }
};

absl::StatusOr<Named> FindRoom(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  const bool has_index = parts.first.size() != text.size();
  for (const device::Room& room : device::Rooms()) {
    int index = 0;
    if (room.kind != parts.first || has_index == (room.count == nullptr)) continue;
    if (has_index && (!absl::SimpleAtoi(parts.second, &index) || index < 0)) continue;
    return Named{room, index};
  }
  return services::ArgumentInvalid(
      "device", absl::StrCat("--device ", text, ": use auto, all, host or cuda:N"));
}

absl::StatusOr<std::vector<std::string>> NamesOfAll() {
  std::vector<std::string> names;
  std::vector<std::string> refusals;
  for (const device::Room& room : device::Rooms()) {
    if (room.count == nullptr) continue;
    const absl::StatusOr<int> count = room.count();
    if (!count.ok()) refusals.push_back(Refusal(room, count.status()));
    for (int index = 0; index < count.value_or(0); ++index) names.push_back(NameOf(room, index));
  }
  if (names.empty()) {
    return device::Unusable("all", absl::StrCat("--device all: ", absl::StrJoin(refusals, "; ")));
  }
  return names;
}

absl::Status CheckCount(size_t devices) {
  if (devices <= kMaxDevices) return absl::OkStatus();
  return services::ArgumentInvalid(
      "device", absl::StrCat("--device: ", devices, " devices are more than the ", kMaxDevices,
                             " that one worker drives; name those that it shall"));
}

bool IsWord(absl::string_view text) { return text == "auto" || text == "all"; }

}  // namespace

absl::Status CheckDevice(const std::string& text) {
  return IsWord(text) ? absl::OkStatus() : FindRoom(text).status();
}

absl::Status CheckDevices(const std::vector<std::string>& texts) {
  TD_RETURN_IF_ERROR(CheckCount(texts.size()));
  std::set<std::string> names;
  for (const std::string& text : texts) {
    if (IsWord(text) && texts.size() > 1) {
      return services::ArgumentInvalid(
          "device", absl::StrCat("--device ", text, " stands alone: no other is named beside it"));
    }
    if (IsWord(text)) continue;
    TD_ASSIGN_OR_RETURN(const Named named, FindRoom(text));
    if (names.insert(named.name()).second) continue;
    return services::ArgumentInvalid("device", absl::StrCat("--device ", text, " is there twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceChoice> ChooseDevice(absl::string_view text) {
  if (text == "auto") return ChooseAny();
  TD_ASSIGN_OR_RETURN(const Named named, FindRoom(text));
  auto device = named.room.create(named.index);
  if (device.ok()) return Chosen(*std::move(device), "asked for");
  return device::Unusable(
      text, absl::StrCat("--device ", text, ": ", absl::string_view(device.status().message())));
}

absl::StatusOr<std::vector<DeviceChoice>> ChooseDevices(const std::vector<std::string>& texts) {
  TD_RETURN_IF_ERROR(CheckDevices(texts));
  std::vector<std::string> names = texts;
  if (texts.front() == "all") {
    TD_ASSIGN_OR_RETURN(names, NamesOfAll());
    TD_RETURN_IF_ERROR(CheckCount(names.size()));
  }
  std::vector<DeviceChoice> devices;
  for (const std::string& name : names) {
    TD_ASSIGN_OR_RETURN(devices.emplace_back(), ChooseDevice(name));
  }
  return devices;
}

}  // namespace tapedeck::gpu_worker::pipeline
