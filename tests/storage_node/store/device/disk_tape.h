// What a program does to one file, as a disk with a volatile cache sees it: each write and each
// flush, in order. The program's own pwrite(2) and fdatasync(2) are recorded; linked into a test,
// this file also refuses io_uring, which could not be seen.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tapedeck::storage_node {

struct TapeEntry {
  enum Kind { kWrite, kFlush, kMark } kind = kWrite;
  uint64_t offset = 0;  // of a write
  std::string bytes;    // of a write; of a mark, its text
  size_t covers = 0;    // of a flush: the entries before this one are durable
  uint64_t value = 0;   // of a mark
};

// One at a time in a process. Recording starts with the object.
class DiskTape {
 public:
  explicit DiskTape(const std::string& path);
  ~DiskTape() { Stop(); }

  // Something that the outside was told: whatever it rests on was flushed before.
  void Mark(const std::string& text, uint64_t value);
  // No more is recorded.
  void Stop();
  const std::vector<TapeEntry>& entries() const { return entries_; }

  // The disk after a power cut that lets the first `end` entries happen: what was flushed, and of
  // the writes that were not a random part, some of them torn between sectors.
  std::string AfterPowerCut(size_t end, std::mt19937_64& random) const;

 private:
  friend ssize_t RecordWrite(int fd, const void* bytes, size_t size, off_t offset);
  friend int RecordFlush(int fd);
  void Add(TapeEntry entry);

  const std::string before_;  // the file when recording started
  std::vector<TapeEntry> entries_;
};

}  // namespace tapedeck::storage_node
