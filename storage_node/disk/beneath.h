// Opens what lies below a directory, and nothing else: no symbolic link is followed, no ".." and no
// absolute path.
#pragma once

#include <string>

#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::disk {

// As openat(2) with O_CLOEXEC and, where a file is made, mode 0640: a descriptor, or one below 0
// and errno. ELOOP or ENOTDIR: a link lies on the way.
Fd OpenBeneath(int directory, const std::string& path, int flags);

// The same without openat2(2), which kernels before 5.6 do not have and containers may forbid: one
// part of the path after the other.
Fd OpenBeneathByParts(int directory, const std::string& path, int flags);

}  // namespace tapedeck::storage_node::disk
