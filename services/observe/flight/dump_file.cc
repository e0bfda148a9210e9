#include "services/observe/flight/dump_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <span>

#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"
#include "dataplane/little_endian.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::flight {
namespace {

using dataplane::Fd;

constexpr absl::string_view kMark = "TDFLIGHT";
constexpr size_t kLengthBytes = 4;

absl::Status DumpError(absl::string_view call, const std::string& path) {
  const std::string text = absl::StrCat(call, " ", path, ": ", std::strerror(errno));
  return errno == ENOENT ? absl::NotFoundError(text) : absl::InternalError(text);
}

absl::Status WriteAll(const Fd& file, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return DumpError("write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status ReadAt(const Fd& file, uint64_t at, std::span<char> into, const std::string& path) {
  const ssize_t got = pread(file.get(), into.data(), into.size(), static_cast<off_t>(at));
  if (got < 0) return DumpError("read", path);
  if (static_cast<size_t>(got) < into.size()) {
    return absl::DataLossError(absl::StrCat("read ", path, ": it ends in the middle of a part"));
  }
  return absl::OkStatus();
}

// Never through a link, and without waiting for what is no file.
absl::StatusOr<Fd> OpenDump(const std::string& path, uint64_t* bytes) {
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return DumpError("open", path);
  std::array<char, kMark.size()> mark{};
  if (!S_ISREG(info.st_mode) || !ReadAt(file, 0, mark, path).ok() ||
      absl::string_view(mark.data(), mark.size()) != kMark) {
    return absl::DataLossError(absl::StrCat(path, " is not a dump of a flight recorder"));
  }
  *bytes = static_cast<uint64_t>(info.st_size);
  return file;
}

absl::Status WriteParts(const Fd& file, const std::vector<std::string>& parts,
                        const std::string& path) {
  TD_RETURN_IF_ERROR(WriteAll(file, kMark, path));
  for (const std::string& part : parts) {
    std::array<std::byte, kLengthBytes> length;
    dataplane::PutLittleEndian(length.data(), static_cast<uint32_t>(part.size()));
    TD_RETURN_IF_ERROR(
        WriteAll(file, {reinterpret_cast<const char*>(length.data()), length.size()}, path));
    TD_RETURN_IF_ERROR(WriteAll(file, part, path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteDumpFile(const std::string& path, const std::vector<std::string>& parts) {
  const std::string beside = absl::StrCat(path, ".part");
  const Fd file(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (file.get() < 0) return DumpError("open", beside);
  absl::Status status = WriteParts(file, parts, beside);
  if (status.ok() && rename(beside.c_str(), path.c_str()) != 0)
    status = DumpError("rename", beside);
  if (!status.ok()) unlink(beside.c_str());  // made above
  return status;
}

absl::StatusOr<DumpPart> ReadDumpPart(const std::string& path, uint64_t at) {
  uint64_t bytes = 0;
  TD_ASSIGN_OR_RETURN(const Fd file, OpenDump(path, &bytes));
  if (at == 0) at = kMark.size();
  std::array<char, kLengthBytes> prefix{};
  TD_RETURN_IF_ERROR(ReadAt(file, at, prefix, path));
  const auto length =
      dataplane::GetLittleEndian<uint32_t>(reinterpret_cast<const std::byte*>(prefix.data()));
  if (length > kMaxDumpPartBytes || length > bytes) {
    return absl::DataLossError(absl::StrCat("read ", path, ": a part of ", length, " bytes"));
  }
  DumpPart part{.bytes = std::string(length, '\0'), .next = at + kLengthBytes + length};
  TD_RETURN_IF_ERROR(ReadAt(file, at + kLengthBytes, part.bytes, path));
  if (part.next >= bytes) part.next = 0;
  return part;
}

bool IsDumpFile(const std::string& path) {
  uint64_t bytes = 0;
  return OpenDump(path, &bytes).ok();
}

}  // namespace tapedeck::services::flight
