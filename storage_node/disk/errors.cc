#include "storage_node/disk/errors.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/base/errors.h"

namespace tapedeck::storage_node::disk {
namespace {

std::string IdOf(absl::string_view lun) { return std::string(absl::StripPrefix(lun, "luns/")); }

// Without what is not known.
absl::Status Full(std::map<std::string, std::string> metadata, absl::string_view text) {
  std::erase_if(metadata, [](const auto& entry) { return entry.second.empty(); });
  return services::WithReason(absl::ResourceExhaustedError(text), "LUN_FULL", std::move(metadata));
}

absl::Status State(absl::StatusCode code, absl::string_view directory, absl::string_view operation,
                   absl::string_view what, absl::string_view remedy) {
  return services::WithReason(
      absl::Status(code, absl::StrCat(what, "; ", remedy)), "STATE_UNUSABLE",
      {{"directory", std::string(directory)}, {"operation", std::string(operation)}});
}

}  // namespace

absl::Status LunExists(absl::string_view lun, absl::string_view text) {
  return services::WithReason(absl::AlreadyExistsError(text), "LUN_EXISTS", {{"lun", IdOf(lun)}});
}

absl::Status LunNotEmpty(absl::string_view lun, uint64_t recordings, absl::string_view text) {
  return services::WithReason(absl::FailedPreconditionError(text), "LUN_NOT_EMPTY",
                              {{"lun", IdOf(lun)}, {"recordings", absl::StrCat(recordings)}});
}

absl::Status LunFull(absl::string_view lun, uint64_t capacity_bytes, uint64_t used_bytes,
                     absl::string_view text) {
  return Full({{"lun", IdOf(lun)},
               {"capacity_bytes", absl::StrCat(capacity_bytes)},
               {"used_bytes", absl::StrCat(used_bytes)}},
              text);
}

absl::Status Lacking(const absl::Status& full, absl::string_view lacks) {
  const auto reason = services::ReasonOf(full);
  if (!reason.has_value()) return full;
  std::map<std::string, std::string> metadata(reason->metadata.begin(), reason->metadata.end());
  metadata.emplace("lacks", lacks);
  return Full(std::move(metadata), full.message());
}

absl::Status MemberFull(absl::string_view member, absl::string_view text) {
  return Full({{"member", std::string(member)}}, text);
}

absl::Status MemberNotEmpty(absl::string_view member, absl::string_view found,
                            absl::string_view text) {
  return services::WithReason(absl::FailedPreconditionError(text), "MEMBER_NOT_EMPTY",
                              {{"member", std::string(member)}, {"found", std::string(found)}});
}

absl::Status MemberUnusable(absl::string_view member, absl::string_view text,
                            absl::StatusCode code) {
  return services::WithReason(absl::Status(code, text), "MEMBER_UNUSABLE",
                              {{"member", std::string(member)}});
}

absl::Status Unusable(absl::string_view member, absl::string_view why, absl::StatusCode code) {
  return MemberUnusable(member, absl::StrCat("member ", member, ": ", why), code);
}

absl::Status StoreIo(absl::string_view member, absl::string_view operation, absl::string_view text,
                     absl::StatusCode code) {
  return services::WithReason(
      absl::Status(code, text), "STORE_IO",
      {{"member", std::string(member)}, {"operation", std::string(operation)}});
}

absl::Status StateFull(absl::string_view directory, absl::string_view operation,
                       absl::string_view what) {
  return State(absl::StatusCode::kResourceExhausted, directory, operation, what,
               absl::StrCat("free space on the file system of the state directory ", directory));
}

absl::Status StateUnusable(absl::string_view directory, absl::string_view operation,
                           absl::string_view what, absl::string_view remedy) {
  const std::string usual = absl::StrCat("check that the state directory ", directory,
                                         " exists and the node may write to it");
  return State(absl::StatusCode::kInternal, directory, operation, what,
               remedy.empty() ? usual : remedy);
}

absl::Status StateBehind(absl::string_view directory, size_t waiting, absl::string_view what) {
  return State(absl::StatusCode::kResourceExhausted, directory, "catalog",
               absl::StrCat(waiting, " changes wait for the catalog, which is the limit: ", what),
               absl::StrCat("make the state directory ", directory, " writable again"));
}

absl::Status OfState(absl::string_view directory, const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  if (!reason.has_value()) return status;
  const std::string what(status.message().substr(0, status.message().find("; ")));
  if (reason->reason == "LUN_FULL") return StateFull(directory, "write", what);
  if (reason->reason != "STORE_IO") return status;
  const auto operation = reason->metadata.find("operation");
  return StateUnusable(directory, operation == reason->metadata.end() ? "" : operation->second,
                       what);
}

absl::Status IoError(absl::string_view operation, absl::string_view where, absl::string_view member,
                     int error) {
  const std::string text = absl::StrCat(operation, " ", where, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return MemberFull(member, absl::StrCat(text, "; the file system of member ", member,
                                           " is full: delete recordings"));
  }
  return StoreIo(member, operation,
                 absl::StrCat(text, " (errno ", error, "); check member ", member));
}

bool IsEndOfDisk(int error) {
  constexpr std::array kErrors = {ENOENT, ENOTDIR, ELOOP, ESTALE, ENODEV,
                                  ENXIO,  EIO,     EROFS, EUCLEAN};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

}  // namespace tapedeck::storage_node::disk
