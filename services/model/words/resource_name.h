// Resource names (AIP-122): luns/{lun}/channels/{channel}/recordings/{recording} and jobs/{job};
// and the short ones that people and programs write: LUN/CHANNEL for luns/LUN/channels/CHANNEL.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::model {

// INVALID_ARGUMENT (NAME_INVALID) unless `id` is 1 to 63 of [A-Za-z0-9._-] and starts with a letter
// or digit: it also names a directory.
absl::Status CheckId(absl::string_view id);

enum class Wildcard { kRefused, kAllowed };  // "-" for any id

// The ids of a name, or INVALID_ARGUMENT (NAME_INVALID) that shows the expected form. `collections`
// are the fixed parts, e.g. {"luns", "channels"}.
absl::StatusOr<std::vector<std::string>> ParseName(
    absl::string_view name, const std::vector<absl::string_view>& collections,
    Wildcard wildcard = Wildcard::kRefused);

absl::Status CheckLunName(absl::string_view name, Wildcard wildcard = Wildcard::kRefused);
absl::Status CheckChannelName(absl::string_view name, Wildcard wildcard = Wildcard::kRefused);
absl::Status CheckRecordingName(absl::string_view name);
absl::Status CheckJobName(absl::string_view name);

// The full name of `text`, which is one already or has an id for each of the collections.
// INVALID_ARGUMENT (NAME_INVALID).
absl::StatusOr<std::string> ExpandName(const std::string& text,
                                       const std::vector<absl::string_view>& collections);

}  // namespace tapedeck::services::model
namespace tapedeck::services {

using model::CheckChannelName;
using model::CheckId;
using model::CheckJobName;
using model::CheckLunName;
using model::CheckRecordingName;
using model::ParseName;
using model::Wildcard;

}  // namespace tapedeck::services
