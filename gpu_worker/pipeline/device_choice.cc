#include "gpu_worker/pipeline/device_choice.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/choose.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/list.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pipeline {
namespace {

absl::StatusOr<std::vector<std::string>> NamesOfAll() {
  std::vector<std::string> names;
  std::vector<std::string> refusals;
  for (const device::DeviceEntry& entry : device::DeviceEntries()) {
    if (entry.count == nullptr) continue;
    const absl::StatusOr<int> count = entry.count();
    if (!count.ok()) refusals.push_back(device::Refusal(entry, count.status()));
    for (int index = 0; index < count.value_or(0); ++index)
      names.push_back(device::NameOf(entry, index));
  }
  if (names.empty()) {
    return device::Unusable("all", absl::StrCat("--device all: ", absl::StrJoin(refusals, "; ")));
  }
  return names;
}

absl::Status CheckCount(size_t devices) {
  if (devices <= kMaxDevices) return absl::OkStatus();
  return services::ArgumentInvalid(
      "device", absl::StrCat("--device: ", devices, " devices; a worker drives at most ",
                             kMaxDevices, "; name these"));
}

bool IsWord(absl::string_view text) { return text == "auto" || text == "all"; }

}  // namespace

absl::Status CheckDevice(const std::string& text) {
  return IsWord(text) ? absl::OkStatus() : device::FindNamed(text).status();
}

absl::Status CheckDevices(const std::vector<std::string>& texts) {
  TD_RETURN_IF_ERROR(CheckCount(texts.size()));
  std::set<std::string> names;
  for (const std::string& text : texts) {
    if (IsWord(text) && texts.size() > 1) {
      return services::ArgumentInvalid(
          "device", absl::StrCat("--device ", text, " must stand alone, without other devices"));
    }
    if (IsWord(text)) continue;
    TD_ASSIGN_OR_RETURN(const device::Named named, device::FindNamed(text));
    if (names.insert(named.name()).second) continue;
    return services::ArgumentInvalid("device", absl::StrCat("--device ", text, " appears twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceChoice> ChooseDevice(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(device::Chosen chosen, device::Choose(text));
  std::string description = absl::StrCat(chosen.device->info().description, " (",
                                         stages::LibraryFor(*chosen.device), ")");
  return DeviceChoice{std::move(chosen.device), std::move(description), std::move(chosen.why)};
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
