#include "gpu_worker/pipeline/device_choice.h"

#include <utility>
#include <vector>

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

absl::StatusOr<DeviceChoice> ChooseAny() {
  std::vector<std::string> refusals;
  for (const device::Room& room : device::Rooms()) {
    auto device = room.create(0);
    if (device.ok()) {
      std::string why = refusals.empty() ? "auto: the first device"
                                         : absl::StrCat("auto: ", absl::StrJoin(refusals, "; "));
      return Chosen(*std::move(device), std::move(why));
    }
    refusals.push_back(
        absl::StrCat("no ", room.kind, " device: ", absl::string_view(device.status().message())));
  }
  return device::Unusable("auto", absl::StrCat("--device auto: ", absl::StrJoin(refusals, "; ")));
}

struct Named {
  device::Room room;
  int index = 0;
};

absl::StatusOr<Named> FindRoom(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  const bool has_index = parts.first.size() != text.size();
  for (const device::Room& room : device::Rooms()) {
    int index = 0;
    if (room.kind != parts.first || has_index == (room.kind == "host")) continue;
    if (has_index && (!absl::SimpleAtoi(parts.second, &index) || index < 0)) continue;
    return Named{room, index};
  }
  return services::ArgumentInvalid("device",
                                   absl::StrCat("--device ", text, ": use auto, host or cuda:N"));
}

}  // namespace

absl::Status CheckDevice(const std::string& text) {
  return text == "auto" ? absl::OkStatus() : FindRoom(text).status();
}

absl::StatusOr<DeviceChoice> ChooseDevice(absl::string_view text) {
  if (text == "auto") return ChooseAny();
  TD_ASSIGN_OR_RETURN(const Named named, FindRoom(text));
  auto device = named.room.create(named.index);
  if (device.ok()) return Chosen(*std::move(device), "asked for");
  return device::Unusable(
      text, absl::StrCat("--device ", text, ": ", absl::string_view(device.status().message())));
}

}  // namespace tapedeck::gpu_worker::pipeline
