#include "storage_node/disk/durable_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "dataplane/status_macros.h"
#include "storage_node/disk/directory.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::disk {
namespace {

absl::StatusOr<Directory> ParentOf(const std::string& path, const std::string& member) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return Directory::Open(parent.empty() ? "." : parent, member);
}

std::string NameIn(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path, absl::string_view text,
                                 const std::string& member) {
  TD_ASSIGN_OR_RETURN(const Directory parent, ParentOf(path, member));
  return parent.WriteFile(NameIn(path), text);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t most,
                                     const std::string& member) {
  TD_ASSIGN_OR_RETURN(const Directory parent, ParentOf(path, member));
  return parent.ReadFile(NameIn(path), most);
}

absl::Status RemoveFile(const std::string& path, const std::string& member) {
  const auto parent = ParentOf(path, member);
  if (absl::IsNotFound(parent.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(parent.status());
  return parent->RemoveFile(NameIn(path)).status();
}

absl::Status SyncDirectory(const std::string& path, const std::string& member) {
  TD_ASSIGN_OR_RETURN(const Directory directory, Directory::Open(path, member));
  return directory.Sync();
}

absl::Status MakeDirectory(const std::string& path, const std::string& member) {
  if (mkdir(path.c_str(), 0750) == 0 || errno == EEXIST) return absl::OkStatus();
  return IoError("mkdir", path, member, errno);
}

absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path,
                                                       const std::string& member) {
  std::vector<std::string> names;
  const auto directory = Directory::Open(path, member);
  if (absl::IsNotFound(directory.status())) return names;
  TD_RETURN_IF_ERROR(directory.status());
  TD_ASSIGN_OR_RETURN(const auto entries, directory->List());
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace tapedeck::storage_node::disk
