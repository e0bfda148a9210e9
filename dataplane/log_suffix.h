// What ends each line that a thread logs: the name of what it does just then, such as the trace
// that a call belongs to. The data plane itself sets none.
#pragma once

#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// On one thread, in scopes that lie within each other.
class LogSuffix {
 public:
  // " key=value", as it shall stand in the line; outlives this.
  explicit LogSuffix(absl::string_view fields);
  LogSuffix(const LogSuffix&) = delete;
  LogSuffix& operator=(const LogSuffix&) = delete;
  ~LogSuffix();

  // Of the calling thread.
  static absl::string_view Current();

 private:
  const absl::string_view before_;
};

}  // namespace tapedeck::dataplane
