#include "storage_node/catalog/names.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::catalog {
namespace {

absl::StatusOr<ResourceName> Parse(absl::string_view name,
                                   const std::vector<absl::string_view>& collections,
                                   Wildcard wildcard) {
  TD_ASSIGN_OR_RETURN(std::vector<std::string> ids,
                      services::ParseName(name, collections, wildcard));
  ids.resize(3);
  return ResourceName{.lun = ids[0], .channel = ids[1], .recording = ids[2]};
}

}  // namespace

std::string ResourceName::lun_name() const { return absl::StrCat("luns/", lun); }

std::string ResourceName::channel_name() const {
  return absl::StrCat(lun_name(), "/channels/", channel);
}

std::string ResourceName::ToString() const {
  if (channel.empty()) return lun_name();
  if (recording.empty()) return channel_name();
  return absl::StrCat(channel_name(), "/recordings/", recording);
}

absl::StatusOr<ResourceName> ParseLunName(absl::string_view name, Wildcard wildcard) {
  return Parse(name, {"luns"}, wildcard);
}

absl::StatusOr<ResourceName> ParseChannelName(absl::string_view name, Wildcard wildcard) {
  return Parse(name, {"luns", "channels"}, wildcard);
}

absl::StatusOr<ResourceName> ParseRecordingName(absl::string_view name) {
  return Parse(name, {"luns", "channels", "recordings"}, Wildcard::kRefused);
}

std::string NewRecordingId(int64_t wall_ns, const format::Random& random) {
  return absl::StrFormat(
      "%s-%04x",
      absl::FormatTime("%Y%m%dT%H%M%SZ", absl::FromUnixNanos(wall_ns), absl::UTCTimeZone()),
      random() & 0xffff);
}

}  // namespace tapedeck::storage_node::catalog
