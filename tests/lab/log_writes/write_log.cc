#include "tests/lab/log_writes/write_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::lab {
namespace {

constexpr uint64_t kMagic = 0x6a736677736872;
constexpr uint64_t kVersion = 1;

enum Flags : uint64_t { kFlush = 1, kFua = 2, kDiscard = 4, kMark = 8 };

// On disk, little-endian; each begins a sector.
struct Super {
  uint64_t magic;
  uint64_t version;
  uint64_t entries;
  uint32_t sector_bytes;
};

struct EntryHeader {
  uint64_t sector;
  uint64_t sectors;
  uint64_t flags;
  uint64_t text_bytes;  // of a mark; the text follows in the same sector
};

}  // namespace

absl::StatusOr<std::unique_ptr<WriteLog>> WriteLog::Open(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const auto fd, storage_node::disk::Open(path, O_RDONLY, path));
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return absl::InternalError(absl::StrCat("fstat ", path));
  const auto bytes = static_cast<size_t>(status.st_size);
  void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return absl::InternalError(absl::StrCat("mmap ", path));
  std::unique_ptr<WriteLog> log(new WriteLog({static_cast<const std::byte*>(memory), bytes}));
  TD_RETURN_IF_ERROR(log->Parse());
  return log;
}

WriteLog::~WriteLog() { munmap(const_cast<std::byte*>(file_.data()), file_.size()); }

absl::Status WriteLog::Parse() {
  Super super = {};
  if (file_.size() < sizeof(super)) return absl::DataLossError("the log is empty");
  std::memcpy(&super, file_.data(), sizeof(super));
  if (super.magic != kMagic || super.version != kVersion || super.sector_bytes < sizeof(super)) {
    return absl::DataLossError("not a log of dm-log-writes, version 1");
  }
  uint64_t at = super.sector_bytes;
  for (uint64_t i = 0; i < super.entries; ++i) {
    const auto early = absl::DataLossError(
        absl::StrCat("the log ends in entry ", i, " of ", super.entries, ": use a larger one"));
    EntryHeader header = {};
    if (at + super.sector_bytes > file_.size()) return early;
    std::memcpy(&header, &file_[at], sizeof(header));
    LogEntry entry{.offset = header.sector * super.sector_bytes,
                   .bytes = header.sectors * super.sector_bytes,
                   .flush = (header.flags & kFlush) != 0,
                   .fua = (header.flags & kFua) != 0,
                   .discard = (header.flags & kDiscard) != 0,
                   .is_mark = (header.flags & kMark) != 0};
    if (entry.is_mark) {
      if (header.text_bytes > super.sector_bytes - sizeof(header)) return early;
      entry.mark.assign(reinterpret_cast<const char*>(&file_[at + sizeof(header)]),
                        header.text_bytes);
    }
    at += super.sector_bytes;
    if (entry.bytes > 0 && !entry.discard) {
      if (at + entry.bytes > file_.size()) return early;
      entry.data = &file_[at];
      at += entry.bytes;
    }
    entries_.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::lab
