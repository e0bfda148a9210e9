#include "tests/storage_node/store/device/disk_tape.h"

#include <dlfcn.h>
#include <liburing.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "tests/scratch_file.h"

namespace tapedeck::storage_node {
namespace {

constexpr size_t kSectorBytes = 512;

// The functions that are recorded have no argument for whom they are recorded.
struct Running {
  absl::Mutex mutex;
  DiskTape* tape = nullptr;
  dev_t device = 0;
  ino_t inode = 0;

  bool Is(int fd) const {
    struct stat status;
    return tape != nullptr && fstat(fd, &status) == 0 && status.st_dev == device &&
           status.st_ino == inode;
  }
};

Running& TheRunning() {
  static auto* running = new Running;
  return *running;
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string Contents(const std::string& path) { return ReadFile(path); }

}  // namespace

DiskTape::DiskTape(const std::string& path) : before_(Contents(path)) {
  Running& running = TheRunning();
  absl::MutexLock lock(&running.mutex);
  struct stat status = {};
  stat(path.c_str(), &status);
  running.tape = this;
  running.device = status.st_dev;
  running.inode = status.st_ino;
}

void DiskTape::Stop() {
  absl::MutexLock lock(&TheRunning().mutex);
  TheRunning().tape = nullptr;
}

void DiskTape::Add(TapeEntry entry) { entries_.push_back(std::move(entry)); }

void DiskTape::Mark(const std::string& text, uint64_t value) {
  absl::MutexLock lock(&TheRunning().mutex);
  Add({.kind = TapeEntry::kMark, .bytes = text, .value = value});
}

std::string DiskTape::AfterPowerCut(size_t end, std::mt19937_64& random) const {
  size_t durable = 0;
  for (size_t i = 0; i < end; ++i) {
    if (entries_[i].kind == TapeEntry::kFlush) durable = std::max(durable, entries_[i].covers);
  }
  std::string disk = before_;
  for (size_t i = 0; i < end; ++i) {
    const TapeEntry& entry = entries_[i];
    if (entry.kind != TapeEntry::kWrite) continue;
    size_t from = 0, to = entry.bytes.size();
    if (i >= durable) {
      const uint64_t fate = random() % 4;
      if (fate == 0) continue;
      if (fate == 1) to = random() % (to / kSectorBytes + 1) * kSectorBytes;
      if (fate == 2) from = random() % (to / kSectorBytes + 1) * kSectorBytes;
    }
    disk.replace(entry.offset + from, to - from, entry.bytes, from, to - from);
  }
  return disk;
}

// A write is there once it has returned; a flush covers the writes that were there when it began.
ssize_t RecordWrite(int fd, const void* bytes, size_t size, off_t offset) {
  static auto* const next = Next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  const ssize_t written = next(fd, bytes, size, offset);
  Running& running = TheRunning();
  absl::MutexLock lock(&running.mutex);
  if (written > 0 && running.Is(fd)) {
    running.tape->Add({.kind = TapeEntry::kWrite,
                       .offset = static_cast<uint64_t>(offset),
                       .bytes = {static_cast<const char*>(bytes), static_cast<size_t>(written)}});
  }
  return written;
}

int RecordFlush(int fd) {
  static auto* const next = Next<int(int)>("fdatasync");
  Running& running = TheRunning();
  size_t covers = 0;
  {
    absl::MutexLock lock(&running.mutex);
    if (running.Is(fd)) covers = running.tape->entries_.size();
  }
  const int result = next(fd);
  absl::MutexLock lock(&running.mutex);
  if (result == 0 && running.Is(fd)) {
    running.tape->Add({.kind = TapeEntry::kFlush, .covers = covers});
  }
  return result;
}

}  // namespace tapedeck::storage_node

extern "C" {

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return tapedeck::storage_node::RecordWrite(fd, bytes, size, offset);
}

int fdatasync(int fd) { return tapedeck::storage_node::RecordFlush(fd); }

int io_uring_queue_init(unsigned /*entries*/, io_uring* /*ring*/, unsigned /*flags*/) {
  return -EPERM;
}

}  // extern "C"
