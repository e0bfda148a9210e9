#include "storage_node/disk/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/fd.h"
#include "storage_node/disk/io_error.h"

namespace tapedeck::storage_node::disk {
namespace {

absl::Status WriteTemporary(const std::string& path, absl::string_view text,
                            const std::string& member) {
  TD_ASSIGN_OR_RETURN(const Fd fd, Open(path, O_WRONLY | O_CREAT | O_TRUNC, member));
  const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  TD_RETURN_IF_ERROR(WriteAll(fd, bytes, 0, path, member));
  if (fsync(fd.get()) != 0) return IoError("fsync", path, member, errno);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path, absl::string_view text,
                                 const std::string& member) {
  const std::string temporary = absl::StrCat(path, ".new");
  absl::Status status = WriteTemporary(temporary, text, member);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = IoError("rename", path, member, errno);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncDirectory(std::filesystem::path(path).parent_path().string(), member);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, const std::string& member) {
  TD_ASSIGN_OR_RETURN(const Fd fd, Open(path, O_RDONLY, member));
  std::string text;
  for (size_t chunk = 4096;; chunk *= 2) {
    const size_t old = text.size();
    text.resize(old + chunk);
    const auto into = std::as_writable_bytes(std::span<char>(text)).subspan(old);
    TD_ASSIGN_OR_RETURN(const size_t n, ReadSome(fd, into, old, path, member));
    text.resize(old + n);
    if (n < chunk) return text;
  }
}

absl::Status SyncDirectory(const std::string& path, const std::string& member) {
  TD_ASSIGN_OR_RETURN(const Fd fd, Open(path, O_RDONLY | O_DIRECTORY, member));
  if (fsync(fd.get()) != 0) return IoError("fsync", path, member, errno);
  return absl::OkStatus();
}

absl::Status MakeDirectory(const std::string& path, const std::string& member) {
  if (mkdir(path.c_str(), 0750) == 0 || errno == EEXIST) return absl::OkStatus();
  return IoError("mkdir", path, member, errno);
}

absl::Status RemoveTree(const std::string& path, const std::string& member) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return error ? IoError("unlink", path, member, error.value()) : absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path,
                                                       const std::string& member) {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(path, error);
  if (error == std::errc::no_such_file_or_directory) return names;
  while (!error && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  if (error) return IoError("readdir", path, member, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tapedeck::storage_node::disk
