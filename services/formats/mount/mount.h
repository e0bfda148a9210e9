// A recording as files in a directory, read-only, by FUSE. The only room that sees its library is
// fuse/; absent.cc there takes its place in a build without.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::services::mount {

// Any thread; a call may wait some seconds. What it fails with is EIO for the program that reads,
// and in the log.
struct MountedFile {
  std::string name;
  std::function<absl::StatusOr<uint64_t>()> size;
  std::function<absl::StatusOr<size_t>(uint64_t offset, std::span<std::byte> into)> read;
};

struct MountSettings {
  std::string directory;  // an empty one
  std::vector<MountedFile> files;
  std::function<void()> on_mounted;
  // Asked every 200 ms. False: unmount.
  std::function<bool()> go_on;
};

// Serves the files until somebody unmounts the directory, or is to. INVALID_ARGUMENT
// (ARGUMENT_INVALID): no empty directory; UNIMPLEMENTED: a build without FUSE; UNAVAILABLE: the
// kernel mounts nothing here.
absl::Status Mount(const MountSettings& settings);

}  // namespace tapedeck::services::mount
