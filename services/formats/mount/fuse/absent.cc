#include "services/formats/mount/mount.h"

namespace tapedeck::services::mount {

absl::Status Mount(const MountSettings& /*settings*/) {
  return absl::UnimplementedError(
      "mount: built without FUSE: install libfuse3-dev and build with -DTAPEDECK_FUSE=ON");
}

}  // namespace tapedeck::services::mount
