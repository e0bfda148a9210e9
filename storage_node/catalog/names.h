// Resource names of what a storage node keeps, taken apart.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/words/resource_name.h"
#include "storage_node/format/uuid.h"

namespace tapedeck::storage_node::catalog {

// luns/{lun}[/channels/{channel}[/recordings/{recording}]]; empty from the first id not given.
struct ResourceName {
  std::string lun;
  std::string channel;
  std::string recording;

  auto operator<=>(const ResourceName&) const = default;

  std::string ToString() const;
  std::string lun_name() const;
  std::string channel_name() const;
};

using services::Wildcard;

// Each accepts names of exactly its kind. INVALID_ARGUMENT (NAME_INVALID).
absl::StatusOr<ResourceName> ParseLunName(absl::string_view name,
                                          Wildcard wildcard = Wildcard::kRefused);
absl::StatusOr<ResourceName> ParseChannelName(absl::string_view name,
                                              Wildcard wildcard = Wildcard::kRefused);
absl::StatusOr<ResourceName> ParseRecordingName(absl::string_view name);

// E.g. 20261120T235144Z-3f2a: sorts by time, unique by chance.
std::string NewRecordingId(int64_t wall_ns, const format::Random& random);

}  // namespace tapedeck::storage_node::catalog
