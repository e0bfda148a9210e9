// Which threads must not wait. Sessions share few threads: one that waits for a disk holds up
// recordings that have nothing to do with that disk.
#pragma once

#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// While one lives, its thread is one that must not wait. On one thread; may be nested.
class NoWaiting {
 public:
  NoWaiting();
  ~NoWaiting();
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
};

// Called by whatever waits for a disk, another thread or another machine, with what it waits for.
// On a thread that must not wait the error is logged; with TAPEDECK_WAITING=abort in the
// environment, as in all tests, the process ends.
void MayWait(absl::string_view what);

}  // namespace tapedeck::dataplane
