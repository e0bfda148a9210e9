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
  for (const Room& room : Rooms()) {
    auto device = room.create(0);
    if (device.ok()) {
      std::string why = refusals.empty() ? "auto: the first device"
                                         : absl::StrCat("auto: ", absl::StrJoin(refusals, "; "));
      return Chosen{*std::move(device), std::move(why)};
    }
    refusals.push_back(Refusal(room, device.status()));
  }
  return Unusable("auto", absl::StrCat("--device auto: ", absl::StrJoin(refusals, "; ")));
}

}  // namespace

std::string NameOf(const Room& room, int index) {
  return room.count == nullptr ? std::string(room.kind) : absl::StrCat(room.kind, ":", index);
}

std::string Refusal(const Room& room, const absl::Status& status) {
  return absl::StrCat("no ", room.kind, " device: ", absl::string_view(status.message()));
}

std::string Named::name() const { return NameOf(room, index); }

absl::StatusOr<Named> FindNamed(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  const bool has_index = parts.first.size() != text.size();
  for (const Room& room : Rooms()) {
    int index = 0;
    if (room.kind != parts.first || has_index == (room.count == nullptr)) continue;
    if (has_index && (!absl::SimpleAtoi(parts.second, &index) || index < 0)) continue;
    return Named{room, index};
  }
  return services::ArgumentInvalid(
      "device", absl::StrCat("--device ", text, ": use auto, all, host or cuda:N"));
}

absl::StatusOr<Chosen> Choose(absl::string_view text) {
  if (text == "auto") return ChooseAny();
  TD_ASSIGN_OR_RETURN(const Named named, FindNamed(text));
  auto device = named.room.create(named.index);
  if (device.ok()) return Chosen{*std::move(device), "asked for"};
  return Unusable(
      text, absl::StrCat("--device ", text, ": ", absl::string_view(device.status().message())));
}

}  // namespace tapedeck::gpu_worker::device
