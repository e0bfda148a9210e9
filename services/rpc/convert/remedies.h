// The remedies of tapedeck/v1/errors.proto, for people at a terminal. Any thread.
#pragma once

#include <string>
#include <vector>

namespace tapedeck::services::convert {

// Where what failed lies.
enum class Side {
  kAny,
  kHere,  // the caller's own machine
  kNode,  // that of the worker or of a storage node
};

// For the errors of a reason that fit all of it.
struct Remedy {
  std::string reason;
  std::vector<std::string> commands;  // of tapectl, "lun attach"; empty: all
  Side side = Side::kAny;
  std::string metadata;  // an entry, "member" or "option=sessions"; empty: any
  std::string text;      // without marks; empty: none, or the error's text says it
};

// By reasons. Of several that fit an error the first one counts.
const std::vector<Remedy>& Remedies();

}  // namespace tapedeck::services::convert
