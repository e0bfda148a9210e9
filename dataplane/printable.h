// What others wrote, made safe to show: nothing in it commands the terminal of whoever reads it.
// Any thread.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// The bytes of the printable character that `text`, which is not empty, begins with; 0 if there is
// none: a control character, C1 included, which terminals obey too, or what is no UTF-8 (RFC 3629).
size_t PrintableBytes(absl::string_view text);

// For a line that people read: line ends and tabs as spaces, what else is not printable as \xNN.
// What comes after the first `most` bytes is cut, with three dots in its stead.
std::string Printable(absl::string_view text, size_t most = absl::string_view::npos);

}  // namespace tapedeck::dataplane
