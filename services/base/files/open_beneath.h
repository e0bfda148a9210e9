// openat2(2) as it never leaves a directory.
#pragma once

#include <sys/types.h>

#include <string>

#include "dataplane/fd.h"

namespace tapedeck::services::files {

// As openat(2) with O_CLOEXEC, but for links, which are not followed, and ways out of `directory`,
// which are not taken, whatever is changed meanwhile. A descriptor, or one below 0 and errno: ELOOP
// (a link lies on the way), EXDEV (the path leads out), ENOSYS or EPERM (a kernel before 5.6, or a
// container that forbids the call), EAGAIN (the path changes all the time, or somebody has a lease
// on the file). Any thread that may wait for a disk.
dataplane::Fd OpenBeneath(int directory, const std::string& path, int flags, mode_t mode = 0);

}  // namespace tapedeck::services::files
