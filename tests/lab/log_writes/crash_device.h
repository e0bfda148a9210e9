// A device whose power was cut: a file, under a loop device, that holds what had reached the medium
// and any choice of the writes that had not been forced there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/disk/fd.h"
#include "tests/lab/log_writes/write_log.h"

namespace tapedeck::lab {

// A write, or the first bytes of one.
struct Write {
  const LogEntry* entry = nullptr;
  uint64_t bytes = 0;
};

// Owned by main. One thread.
class CrashDevice {
 public:
  // `image` exists and is sparse, of zeros; it backs the loop device `device`.
  static absl::StatusOr<std::unique_ptr<CrashDevice>> Create(const std::string& image,
                                                             const std::string& device);
  ~CrashDevice();

  // Reaches the medium for good. A discarded range reads as zeros.
  absl::Status Apply(const LogEntry& entry);

  // Whatever was done to the device since, it now holds the medium and these writes.
  absl::Status CutPower(std::span<const Write> unforced);

 private:
  CrashDevice(storage_node::disk::Fd fd, std::string device, std::span<std::byte> image,
              std::span<std::byte> medium)
      : fd_(std::move(fd)), device_(std::move(device)), image_(image), medium_(medium) {}

  absl::Status Check(const LogEntry& entry) const;
  void RestoreImage();
  absl::Status DropPages() const;

  const storage_node::disk::Fd fd_;  // of the image
  const std::string device_;
  const std::span<std::byte> image_;                    // mapped, shared
  const std::span<std::byte> medium_;                   // mapped, our own
  std::vector<std::pair<uint64_t, uint64_t>> applied_;  // offset, bytes: not in the image yet
};

}  // namespace tapedeck::lab
