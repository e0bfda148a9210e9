// How a change of a file is seen, and when what it says counts.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace tapedeck::services::identity {

// All 0: it is not there.
struct FileStamp {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

// May wait for a disk.
inline FileStamp StampOf(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return {};
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .bytes = static_cast<uint64_t>(found.st_size),
          .changed_ns = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

// A file that somebody writes in place may be read in the middle of that: a new text of it counts
// once two looks, some time apart, found the same bytes. One thread.
class TwoLooks {
 public:
  // Whether the look before found the same, or failed for the same reason.
  bool Agree(const absl::StatusOr<std::string>& text) {
    const bool same =
        seen_.has_value() && seen_->status() == text.status() && (!text.ok() || **seen_ == *text);
    seen_ = text;
    return same;
  }

  // The next look is the first again.
  void Forget() { seen_.reset(); }

 private:
  std::optional<absl::StatusOr<std::string>> seen_;
};

}  // namespace tapedeck::services::identity
