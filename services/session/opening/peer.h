// How errors of a worker's session name who is at its other end.
#pragma once

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tapedeck::services::session {

// "storage node HOST:PORT", or "worker HOST:PORT" where `target` is an inlet.
inline std::string PeerOf(const std::string& node, const std::string& target) {
  const bool inlet = absl::StartsWith(target, "inlets/");
  return absl::StrCat(inlet ? "worker " : "storage node ", node);
}

}  // namespace tapedeck::services::session
