#include "storage_node/catalog/names.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"

namespace tapedeck::storage_node::catalog {
namespace {

constexpr size_t kMaxIdBytes = 63;
constexpr absl::string_view kCollections[] = {"luns", "channels", "recordings"};

absl::Status Invalid(absl::string_view name, absl::string_view why) {
  return services::WithReason(absl::InvalidArgumentError(absl::StrCat("name '", name, "': ", why)),
                              "NAME_INVALID", {{"name", std::string(name)}});
}

// A name with `ids` ids.
absl::StatusOr<ResourceName> Parse(absl::string_view name, size_t ids, Wildcard wildcard,
                                   absl::string_view form) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() != 2 * ids) return Invalid(name, absl::StrCat("must be ", form));
  ResourceName out;
  std::string* const targets[] = {&out.lun, &out.channel, &out.recording};
  for (size_t i = 0; i < ids; ++i) {
    if (parts[2 * i] != kCollections[i]) return Invalid(name, absl::StrCat("must be ", form));
    const std::string& id = parts[2 * i + 1];
    if (wildcard == Wildcard::kRefused || id != "-") TD_RETURN_IF_ERROR(CheckId(id));
    *targets[i] = id;
  }
  return out;
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
  return Parse(name, 1, wildcard, "luns/LUN");
}

absl::StatusOr<ResourceName> ParseChannelName(absl::string_view name, Wildcard wildcard) {
  return Parse(name, 2, wildcard, "luns/LUN/channels/CHANNEL");
}

absl::StatusOr<ResourceName> ParseRecordingName(absl::string_view name) {
  return Parse(name, 3, Wildcard::kRefused, "luns/LUN/channels/CHANNEL/recordings/RECORDING");
}

absl::Status CheckId(absl::string_view id) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  };
  if (!id.empty() && id.size() <= kMaxIdBytes &&
      absl::ascii_isalnum(static_cast<unsigned char>(id[0])) &&
      std::all_of(id.begin(), id.end(), allowed)) {
    return absl::OkStatus();
  }
  return Invalid(id, "ids are 1 to 63 of A-Z a-z 0-9 . _ - and start with a letter or digit");
}

std::string NewRecordingId(int64_t wall_ns, const format::Random& random) {
  return absl::StrFormat(
      "%s-%04x",
      absl::FormatTime("%Y%m%dT%H%M%SZ", absl::FromUnixNanos(wall_ns), absl::UTCTimeZone()),
      random() & 0xffff);
}

}  // namespace tapedeck::storage_node::catalog
