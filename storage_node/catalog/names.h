// Resource names (AIP-122) and the ids they are made of.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage_node/format/uuid.h"

namespace tapedeck::storage_node::catalog {

// luns/{lun}[/channels/{channel}[/recordings/{recording}]]; empty from the first id not given.
struct ResourceName {
  std::string lun;
  std::string channel;
  std::string recording;

  std::string ToString() const;
  std::string lun_name() const;
  std::string channel_name() const;
};

// Where a list is asked for, an id may be "-" for all of them.
enum class Wildcard { kRefused, kAllowed };

// Each accepts names of exactly its kind. INVALID_ARGUMENT (NAME_INVALID).
absl::StatusOr<ResourceName> ParseLunName(absl::string_view name,
                                          Wildcard wildcard = Wildcard::kRefused);
absl::StatusOr<ResourceName> ParseChannelName(absl::string_view name,
                                              Wildcard wildcard = Wildcard::kRefused);
absl::StatusOr<ResourceName> ParseRecordingName(absl::string_view name);

// 1 to 63 of [A-Za-z0-9._-], starting with a letter or digit: it also names a directory.
absl::Status CheckId(absl::string_view id);

// E.g. 20261120T235144Z-3f2a: sorts by time, unique by chance.
std::string NewRecordingId(int64_t wall_ns, const format::Random& random);

}  // namespace tapedeck::storage_node::catalog
