#include "gpu_worker/device/choose.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/unusable.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::device {
namespace {

absl::StatusOr<Chosen> ChooseAny() {
  std::vector<std::string> refusals;
  for (const DeviceEntry& entry : DeviceEntries()) {
    auto device = entry.create(0);
    if (device.ok()) {
      std::string why = refusals.empty() ? "auto: the first device"
                                         : absl::StrCat("auto: ", absl::StrJoin(refusals, "; "));
      return Chosen{*std::move(device), std::move(why)};
    }
    refusals.push_back(Refusal(entry, device.status()));
  }
  return Unusable("auto", absl::StrCat("--device auto: ", absl::StrJoin(refusals, "; ")));
}

}  // namespace

std::string NameOf(const DeviceEntry& entry, int index) {
  return entry.count == nullptr ? std::string(entry.kind) : absl::StrCat(entry.kind, ":", index);
}

std::string Refusal(const DeviceEntry& entry, const absl::Status& status) {
  return absl::StrCat("no ", entry.kind, " device: ", absl::string_view(status.message()));
}

std::string Named::name() const { return NameOf(entry, index); }

absl::StatusOr<Named> FindNamed(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  const bool has_index = parts.first.size() != text.size();
  for (const DeviceEntry& entry : DeviceEntries()) {
    int index = 0;
    if (entry.kind != parts.first || has_index == (entry.count == nullptr)) continue;
    if (has_index && (!absl::SimpleAtoi(parts.second, &index) || index < 0)) continue;
    return Named{entry, index};
  }
  return services::ArgumentInvalid(
      "device", absl::StrCat("--device ", text, ": use auto, all, host or cuda:N"));
}

absl::StatusOr<Chosen> Choose(absl::string_view text) {
  if (text == "auto") return ChooseAny();
  TD_ASSIGN_OR_RETURN(const Named named, FindNamed(text));
  auto device = named.entry.create(named.index);
  if (device.ok()) return Chosen{*std::move(device), "asked for"};
  return Unusable(
      text, absl::StrCat("--device ", text, ": ", absl::string_view(device.status().message())));
}

}  // namespace tapedeck::gpu_worker::device
