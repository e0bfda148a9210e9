#include "storage_node/disk/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/io_error.h"

namespace tapedeck::storage_node::disk {

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

}  // namespace tapedeck::storage_node::disk
