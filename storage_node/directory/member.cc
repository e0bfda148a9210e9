#include "storage_node/directory/member.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/format/config.h"

namespace tapedeck::storage_node::directory {
namespace {

std::string LunFile(const std::string& member) {
  return absl::StrCat(ConfigDirectory(member), "/lun.json");
}

absl::Status Unusable(absl::StatusCode code, const std::string& member, absl::string_view why) {
  return services::WithReason(absl::Status(code, absl::StrCat("member ", member, ": ", why)),
                              "MEMBER_UNUSABLE", {{"member", member}});
}

absl::Status CheckDirectory(const std::string& member) {
  std::error_code error;
  if (!std::filesystem::is_directory(member, error)) {
    return Unusable(absl::StatusCode::kNotFound, member,
                    "not a directory; create it, or mount its disk, first");
  }
  if (access(member.c_str(), R_OK | W_OK | X_OK) != 0) {
    return Unusable(absl::StatusCode::kFailedPrecondition, member,
                    absl::StrCat("access: ", std::strerror(errno), "; make it writable"));
  }
  return absl::OkStatus();
}

absl::StatusOr<disk::FileLock> Lock(const std::string& member) {
  return disk::FileLock::Take(absl::StrCat(ConfigDirectory(member), "/lock"), member);
}

}  // namespace

std::string ConfigDirectory(const std::string& member) {
  return absl::StrCat(member, "/.tapedeck");
}

absl::StatusOr<std::unique_ptr<Member>> Member::Create(const services::Lun& lun, uint32_t number) {
  const std::string& path = lun.members[number];
  TD_RETURN_IF_ERROR(CheckDirectory(path));
  TD_RETURN_IF_ERROR(disk::MakeDirectory(ConfigDirectory(path), path));
  TD_ASSIGN_OR_RETURN(disk::FileLock lock, Lock(path));
  if (const auto text = disk::ReadFile(LunFile(path), path); text.ok()) {
    const auto other = format::DecodeLun(*text);
    return Unusable(absl::StatusCode::kFailedPrecondition, path,
                    absl::StrCat("already belongs to ", other.ok() ? other->name : "a LUN",
                                 "; use another directory, or remove its .tapedeck"));
  }
  TD_RETURN_IF_ERROR(
      disk::WriteFileAtomically(LunFile(path), format::EncodeLun(lun, number), path));
  TD_RETURN_IF_ERROR(disk::SyncDirectory(path, path));
  return std::unique_ptr<Member>(new Member(lun, number, std::move(lock)));
}

absl::StatusOr<std::unique_ptr<Member>> Member::Open(const services::Lun& lun, uint32_t number) {
  const std::string& path = lun.members[number];
  TD_RETURN_IF_ERROR(CheckDirectory(path));
  const auto text = disk::ReadFile(LunFile(path), path);
  if (!text.ok()) {
    return Unusable(absl::StatusCode::kFailedPrecondition, path,
                    absl::StrCat("holds no LUN (", text.status().message(), "); is it mounted?"));
  }
  TD_ASSIGN_OR_RETURN(const services::Lun found, format::DecodeLun(*text));
  if (found.uid != lun.uid) {
    return Unusable(
        absl::StatusCode::kFailedPrecondition, path,
        absl::StrCat("belongs to ", found.name, " (", found.uid, "), not to ", lun.name));
  }
  TD_ASSIGN_OR_RETURN(disk::FileLock lock, Lock(path));
  return std::unique_ptr<Member>(new Member(lun, number, std::move(lock)));
}

void Member::Stop() {
  io_.Stop();
  sync_.Stop();
  spares_.Stop();
}

Member::Member(const services::Lun& lun, uint32_t number, disk::FileLock lock)
    : path_(lun.members[number]),
      lock_(std::move(lock)),
      spares_(lun, number),
      io_(absl::StrCat("disk-io-", number)),
      sync_(absl::StrCat("disk-sync-", number)) {}

}  // namespace tapedeck::storage_node::directory
