// The text of a .sigmf-collection (the Signal Metadata Format Specification, 1.2.5): which
// recordings belong together, each by the hash of its .sigmf-meta.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/model/recording/group.h"

namespace tapedeck::services::sigmf {

struct CollectedStream {
  std::string name;  // of its files, without folder and suffix
  std::string meta;  // the whole text of its .sigmf-meta
};

struct Collection {
  std::string description;
  std::optional<model::RecordingGroup> group;  // as tapedeck:group, but for the member's number
  std::vector<CollectedStream> streams;        // in order
};

std::string Encode(const Collection& collection);

}  // namespace tapedeck::services::sigmf
