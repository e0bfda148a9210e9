// The text of a YAML or JSON file as a tree, within bounds and without what makes YAML surprising:
// one document, no anchors, aliases or tags, no key twice. The only place that sees yaml-cpp. Any
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::config {

// Of a file. A configuration of all there is to set has a hundredth of it.
inline constexpr size_t kMaxTextBytes = 256 * 1024;
// Of lists and maps in each other; who walks the tree calls itself as often.
inline constexpr size_t kMaxDepth = 16;
// Values and keys of a file.
inline constexpr size_t kMaxElements = 16 * 1024;

struct Element {
  enum class Kind { kScalar, kList, kMap };

  Kind kind = Kind::kScalar;
  int line = 0;         // from 1
  std::string key;      // in the map that it is in; empty elsewhere
  int key_line = 0;     // the same
  std::string text;     // of a scalar, whose characters are all printable, or line ends or tabs
  bool quoted = false;  // which can be nothing but text then
  std::vector<Element> items;  // of a list or map, in their order
};

// A text without any value is an empty map. Faults name `file` and the line.
absl::StatusOr<Element> ParseDocument(absl::string_view file, absl::string_view text);

}  // namespace tapedeck::services::config
