// What a member of a LUN may be called; which of these a LUN takes, the kind of its store says.
#pragma once

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services {

// SCHEME:NAME, for members that are no paths: a scheme is a lower-case word.
inline bool HasScheme(absl::string_view member) {
  const size_t colon = member.find(':');
  return colon != absl::string_view::npos && colon > 0 &&
         std::all_of(member.begin(), member.begin() + static_cast<ptrdiff_t>(colon),
                     [](char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); });
}

// An absolute path on the storage node, or SCHEME:NAME.
inline bool IsMemberName(absl::string_view member) {
  if (member.find('\0') != absl::string_view::npos) return false;
  return (!member.empty() && member[0] == '/') || HasScheme(member);
}

}  // namespace tapedeck::services
