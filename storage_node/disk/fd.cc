#include "storage_node/disk/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "services/base/files/file_roots.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::disk {
namespace {

constexpr mode_t kNewFile = 0640;

}  // namespace

absl::StatusOr<Fd> Open(const std::string& path, int flags, const std::string& member) {
  dataplane::MayWait("the disk");
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0640);
  if (fd >= 0) return Fd(fd);
  if (errno == ENOENT) return absl::NotFoundError(absl::StrCat("open ", path, ": no such file"));
  return IoError("open", path, member, errno);
}

absl::Status WriteAll(const Fd& fd, std::span<const std::byte> bytes, uint64_t offset,
                      const std::string& where, const std::string& member) {
  dataplane::MayWait("the disk");
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return IoError("pwrite", where, member, n == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> ReadSome(const Fd& fd, std::span<std::byte> into, uint64_t offset,
                                const std::string& where, const std::string& member) {
  dataplane::MayWait("the disk");
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t n =
        pread(fd.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("pread", where, member, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

absl::StatusOr<std::string> ReadAll(const Fd& fd, uint64_t most, const std::string& where,
                                    const std::string& member) {
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return IoError("fstat", where, member, errno);
  const auto bytes = static_cast<uint64_t>(status.st_size);
  if (bytes > most) {
    return StoreIo(member, "read",
                   absl::StrCat("read ", where, ": it has ", bytes,
                                " bytes, and Tapedeck writes at most ", most,
                                " there; it was left as it is. If it is not Tapedeck's, move it "
                                "elsewhere; otherwise restore it from a copy"),
                   absl::StatusCode::kDataLoss);
  }
  // It may grow meanwhile; what is behind its size is not asked for.
  std::string text(bytes, '\0');
  const auto into = std::as_writable_bytes(std::span<char>(text));
  TD_ASSIGN_OR_RETURN(const size_t n, ReadSome(fd, into, 0, where, member));
  text.resize(n);
  return text;
}

absl::Status Allocate(const Fd& fd, uint64_t offset, uint64_t bytes, const std::string& where,
                      const std::string& member) {
  int result;
  do {
    result = fallocate(fd.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno == EOPNOTSUPP) return absl::OkStatus();
  return IoError("fallocate", where, member, errno);
}

Fd OpenBeneath(int directory, const std::string& path, int flags) {
  Fd fd = services::files::OpenBeneath(directory, path, flags, kNewFile);
  // Containers answer EPERM to what they forbid.
  if (fd.get() >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  return OpenBeneathByParts(directory, path, flags);
}

Fd OpenBeneathByParts(int directory, const std::string& path, int flags) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  Fd step;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i] == "..") {
      errno = EXDEV;
      return Fd();
    }
    const bool last = i + 1 == parts.size();
    const int how = last ? flags : O_PATH | O_DIRECTORY;
    const int from = i == 0 ? directory : step.get();
    Fd next(openat(from, parts[i].c_str(), how | O_NOFOLLOW | O_CLOEXEC, kNewFile));
    if (next.get() < 0 || last) return next;
    step = std::move(next);
  }
  return step;
}

}  // namespace tapedeck::storage_node::disk
