// The files of the web page, which lie in the program.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tapedeck::services::console {

struct Asset {
  absl::string_view path;  // "/", "/assets/..."
  absl::string_view content_type;
  absl::string_view bytes;
};

// There for good. Any thread.
absl::Span<const Asset> Assets();

}  // namespace tapedeck::services::console
