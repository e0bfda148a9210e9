// A log of the kernel's dm-log-writes target (drivers/md/dm-log-writes.c): what a device was told
// to write, in the order in which it became true. A write that is not forced to the medium appears
// where the next flush of the device ends, before that flush.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tapedeck::lab {

struct LogEntry {
  uint64_t offset = 0;  // bytes
  uint64_t bytes = 0;   // written or discarded
  bool flush = false;   // every write before it is on the medium
  bool fua = false;     // this write is on the medium
  bool discard = false;
  bool is_mark = false;
  std::string mark;
  const std::byte* data = nullptr;  // of a write
};

// Owned by main; what it gives lives as long. One thread.
class WriteLog {
 public:
  // NOT_FOUND; DATA_LOSS if the file is no such log, or ends early.
  static absl::StatusOr<std::unique_ptr<WriteLog>> Open(const std::string& path);
  ~WriteLog();

  const std::vector<LogEntry>& entries() const { return entries_; }

 private:
  explicit WriteLog(std::span<const std::byte> file) : file_(file) {}
  absl::Status Parse();

  const std::span<const std::byte> file_;  // mapped
  std::vector<LogEntry> entries_;
};

}  // namespace tapedeck::lab
